package io.tutti.endtoend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Groups on a real MPI library, under its own launcher.
 */
@Order(4)
@Timeout(240)
class MpiLibraryIT {

	private static final Duration LIMIT = Duration.ofSeconds(120);

	private static final String CONFORMANCE = "io.tutti.engine.backend.mpi.MpiConformance";

	@TempDir
	Path directory;

	@ParameterizedTest
	@EnumSource
	void theLibraryDoesAllThatIsAskedOfMpi(Family family) throws Exception {
		family.require();
		try (TuttiProcess job = start(family, family.library, 3, program(CONFORMANCE))) {
			assertThat(job.exitCode(LIMIT)).as(job.output()).isZero();
			List<MatchResult> told = Pattern.compile("conformance rank (\\d) of 3: (\\d+) checks over (\\S+ ?\\S+)")
				.matcher(job.output())
				.results()
				.toList();
			assertThat(told).hasSize(3)
				.allMatch((line) -> Integer.parseInt(line.group(2)) > 700)
				.allMatch((line) -> line.group(3).startsWith(family.says));
		}
	}

	@ParameterizedTest
	@EnumSource
	void ranksTrainOnTheLibrary(Family family) throws Exception {
		family.require();
		try (TuttiProcess job = start(family, family.library, 2, tutti("train", "--epochs", "2"))) {
			assertThat(job.exitCode(LIMIT)).as(job.output()).isZero();
			assertThat(job.output()).contains("backend mpi over " + family.says)
				.contains("the same on every rank")
				.containsPattern("test accuracy\\s+9[5-9]\\.\\d");
		}
	}

	@ParameterizedTest
	@EnumSource
	void aDeadlineEndsTheWholeJobWithItsExitCode(Family family) throws Exception {
		family.require();
		try (TuttiProcess job = start(family, family.library, 2,
				tutti("train", "--epochs", "5000", "--tutti.timeout.collective=3s"))) {
			job.awaitLine("epoch +1/5000", LIMIT);
			ProcessHandle stopped = rankOne(job, family);
			TuttiProcess.signal(stopped, "STOP");
			assertThat(job.exitCode(Duration.ofSeconds(40))).as(job.output()).isEqualTo(75);
			assertThat(job.output()).contains("waiting for rank 1").contains("MPI_Abort with exit code 75");
		}
	}

	@ParameterizedTest
	@EnumSource
	void aRankThatLeavesDuringACallEndsTheWholeJob(Family family) throws Exception {
		family.require();
		try (TuttiProcess job = start(family, family.library, 2,
				program("io.tutti.engine.backend.mpi.UnfinishedCall"))) {
			assertThat(job.exitCode(LIMIT)).as(job.output()).isEqualTo(76);
			assertThat(job.output()).contains("MPI_Abort with exit code 76")
				.contains("this rank closed the group during a call");
		}
	}

	@ParameterizedTest
	@EnumSource
	void theLibraryOfAnotherLauncherIsRefusedByName(Family family) throws Exception {
		family.require();
		Family other = Family.values()[1 - family.ordinal()];
		other.require();
		try (TuttiProcess job = start(family, other.library, 2, tutti("bench", "--max-bytes", "4"))) {
			assertThat(job.exitCode(LIMIT)).as(job.output()).isEqualTo(64);
			// The launcher may stop one rank once the other has ended with 64.
			assertThat(job.output()).containsPattern("by the launcher this is rank [01] of 2, by " + other.says
					+ ".* it is rank 0 of 1. Set tutti.mpi.library");
		}
	}

	private TuttiProcess start(Family family, String library, int ranks, List<String> command) throws Exception {
		List<String> line = new ArrayList<>(family.launcher);
		line.add(String.valueOf(ranks));
		line.addAll(command);
		return TuttiProcess.run(this.directory,
				Map.of("SPRING_PROFILES_ACTIVE", "mpi", "TUTTI_MPI_LIBRARY", library, "TUTTI_VECTORS", "false"), line);
	}

	private static List<String> tutti(String... arguments) {
		return Stream.concat(Stream.of(Launcher.script()), Stream.of(arguments)).toList();
	}

	private static List<String> program(String main) {
		List<String> command = TuttiProcess.java();
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
		return command;
	}

	private static ProcessHandle rankOne(TuttiProcess job, Family family) {
		return job.descendants()
			.stream()
			.filter((handle) -> handle.info().command().filter((command) -> command.endsWith("/java")).isPresent())
			.filter((handle) -> isRankOne(handle, family))
			.findFirst()
			.orElseThrow(() -> new AssertionError("no rank 1 runs:\n" + job.output()));
	}

	private static boolean isRankOne(ProcessHandle handle, Family family) {
		try {
			byte[] environment = Files.readAllBytes(Path.of("/proc", String.valueOf(handle.pid()), "environ"));
			return ("\0" + new String(environment, StandardCharsets.UTF_8))
				.contains("\0" + family.rankVariable + "=1\0");
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** An MPI library and its launcher. */
	enum Family {

		OPEN_MPI("openmpi", "Open MPI", "OMPI_COMM_WORLD_RANK", "mpirun.openmpi", "--allow-run-as-root",
				"--oversubscribe", "-np"),

		MPICH("mpich", "MPICH", "PMI_RANK", "mpiexec.hydra", "-n");

		private final String library;

		private final String says;

		private final String rankVariable;

		private final List<String> launcher;

		Family(String library, String says, String rankVariable, String... launcher) {
			this.library = library;
			this.says = says;
			this.rankVariable = rankVariable;
			this.launcher = List.of(launcher);
		}

		private void require() {
			String program = this.launcher.getFirst();
			Launcher.require(Launcher.isInstalled(program), this + ": " + program + " is not installed");
		}

	}

}
