package io.tutti.benchmark.peer;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs programs that are not trusted to end: each in a session of its own, killed with
 * all that it started when its time is up, when the waiting thread is interrupted or when
 * this JVM ends. Where there is timeout(1), a JVM that is killed outright leaves nothing
 * that outlives its limit.
 */
final class BoundedProcess {

	/** What a program gets between being asked to end and being killed. */
	private static final Duration GRACE = Duration.ofSeconds(2);

	/** Output past this is no benchmark's. */
	private static final int MAX_OUTPUT_BYTES = 4 << 20;

	private static final int KILLED = 137;

	private static final File NOTHING = new File("/dev/null");

	/** Variables by which a launcher would take these programs for ranks of its own. */
	private static final List<String> FOREIGN = List.of("OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "MPIR_", "SLURM_");

	private final SearchPath path;

	/**
	 * Runs programs.
	 * @param path where the programs are looked for that make a session and keep time
	 */
	BoundedProcess(SearchPath path) {
		this.path = path;
	}

	/**
	 * Runs a command to its end.
	 * @param environment variables on top of this process's own
	 * @param limit when to kill it
	 */
	ProcessOutcome run(List<String> command, Map<String, String> environment, Duration limit)
			throws IOException, InterruptedException {
		Path directory = Files.createTempDirectory("tutti-bench");
		Path out = directory.resolve("out");
		Path err = directory.resolve("err");
		try {
			ProcessBuilder builder = new ProcessBuilder(guarded(command, limit)).redirectOutput(out.toFile())
				.redirectError(err.toFile())
				.redirectInput(NOTHING);
			builder.environment().keySet().removeIf((name) -> FOREIGN.stream().anyMatch(name::startsWith));
			builder.environment().putAll(environment);
			long start = System.nanoTime();
			int code = await(builder.start(), limit.plus(GRACE));
			boolean timedOut = System.nanoTime() - start >= limit.toNanos();
			return new ProcessOutcome(code, timedOut, limit.toSeconds(), lines(out), lines(err));
		}
		finally {
			Files.deleteIfExists(out);
			Files.deleteIfExists(err);
			Files.deleteIfExists(directory);
		}
	}

	/** A session makes a group to be killed; a timer in it outlives this JVM. */
	private List<String> guarded(List<String> command, Duration limit) {
		List<String> words = new ArrayList<>();
		this.path.find("setsid").ifPresent((setsid) -> words.add(setsid.toString()));
		this.path.find("timeout")
			.ifPresent((timeout) -> words.addAll(List.of(timeout.toString(), "--kill-after=" + GRACE.toSeconds(),
					Long.toString(Math.max(1, limit.toSeconds())))));
		words.addAll(command);
		return words;
	}

	private int await(Process process, Duration limit) throws InterruptedException {
		Thread atExit = new Thread(() -> kill(process), "tutti-bench-kill");
		Runtime.getRuntime().addShutdownHook(atExit);
		try {
			return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS) ? process.exitValue() : KILLED;
		}
		finally {
			kill(process);
			forget(atExit);
		}
	}

	/** Its descendants too: launchers put their ranks into groups of their own. */
	private void kill(Process process) {
		if (!process.isAlive()) {
			return;
		}
		List<ProcessHandle> descendants = process.descendants().toList();
		descendants.forEach(ProcessHandle::destroyForcibly);
		process.destroyForcibly();
	}

	private static void forget(Thread atExit) {
		try {
			Runtime.getRuntime().removeShutdownHook(atExit);
		}
		catch (IllegalStateException ex) {
			// The JVM is ending, and the hook with it.
		}
	}

	private static List<String> lines(Path file) throws IOException {
		try (InputStream stream = Files.newInputStream(file)) {
			return new String(stream.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8).lines().toList();
		}
	}

}
