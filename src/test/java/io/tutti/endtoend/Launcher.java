package io.tutti.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * The launchers that ranks are tested under, with their command lines and the variable
 * that holds the rank.
 */
enum Launcher {

	OPEN_MPI("open-mpi", "OMPI_COMM_WORLD_RANK", "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np"),

	HYDRA("pmi", "PMI_RANK", "mpiexec.hydra", "-n"),

	SLURM("slurm", "SLURM_PROCID", "srun", "--quiet", "-n"),

	SLURM_PMI2("pmi", "PMI_RANK", "srun", "--quiet", "--mpi=pmi2", "-n"),

	/** Explicit redirections, since torchrun 1.13 otherwise fails on Python 3.11. */
	TORCHRUN("torchrun", "RANK", "torchrun", "-r", "9:1", "-t", "9:1", "--no_python", "--nnodes=1", "--nproc_per_node"),

	TORCHRUN_STANDALONE("torchrun", "RANK", "torchrun", "-r", "9:1", "-t", "9:1", "--no_python", "--standalone",
			"--nproc_per_node"),

	OWN("torchrun", "RANK", script(), "launch", "-n");

	/** Set on machines where a missing launcher is a failure and not a reason to skip. */
	private static final String REQUIRED = "TUTTI_LAUNCHERS_REQUIRED";

	private final String source;

	private final String rankVariable;

	private final List<String> words;

	Launcher(String source, String rankVariable, String... words) {
		this.source = source;
		this.rankVariable = rankVariable;
		this.words = List.of(words);
	}

	/** The script that users run. */
	static String script() {
		return Path.of(System.getProperty("basedir", System.getProperty("user.dir")), "tutti").toString();
	}

	/** The source that {@code env} prints for it. */
	String source() {
		return this.source;
	}

	String rankVariable() {
		return this.rankVariable;
	}

	/** The full command line that starts a command on the given number of ranks. */
	List<String> command(int ranks, String... command) {
		List<String> line = new ArrayList<>(this.words);
		line.add(Integer.toString(ranks));
		line.addAll(List.of(command));
		return line;
	}

	/** Skips or fails the calling test if the launcher is missing. */
	void require() throws IOException, InterruptedException {
		String missing = missing();
		require(missing == null, missing);
	}

	/** Skips or fails the calling test if a required program is missing. */
	static void require(boolean present, @Nullable String missing) {
		if (!present && Boolean.parseBoolean(System.getenv(REQUIRED))) {
			Assertions.fail(missing + ", and " + REQUIRED + " is set");
		}
		Assumptions.assumeTrue(present, missing);
	}

	private @Nullable String missing() throws IOException, InterruptedException {
		String program = this.words.getFirst();
		if (!program.startsWith("/") && !isInstalled(program)) {
			return this + ": " + program + " is not installed";
		}
		if (program.equals("srun") && !slurmAnswers()) {
			return this + ": no node of Slurm is ready; src/test/slurm/slurm.sh start gives you one";
		}
		return null;
	}

	/** Whether a program is on the path. */
	static boolean isInstalled(String program) {
		return Arrays.stream(System.getenv("PATH").split(":"))
			.anyMatch((directory) -> Files.isExecutable(Path.of(directory, program)));
	}

	private static boolean slurmAnswers() throws IOException, InterruptedException {
		Process asked = new ProcessBuilder("srun", "--quiet", "--immediate=5", "-n", "1", "true")
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			return asked.waitFor(20, TimeUnit.SECONDS) && asked.exitValue() == 0;
		}
		finally {
			asked.destroyForcibly();
		}
	}

}
