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

import org.jspecify.annotations.Nullable;

/**
 * Runs programs that may not terminate. Each runs in its own session and is killed with
 * its descendants at its time limit, when the waiting thread is interrupted or when this
 * JVM ends. If timeout(1) is installed, the time limit also holds when this JVM is
 * killed.
 */
final class BoundedProcess {

	/** Time between the request to terminate and the kill. */
	private static final Duration GRACE = Duration.ofSeconds(2);

	/** Maximum output that is read. */
	private static final int MAX_OUTPUT_BYTES = 4 << 20;

	private static final int KILLED = 137;

	private static final File NOTHING = new File("/dev/null");

	/**
	 * Prefixes of variables that make a launcher treat these programs as its own ranks.
	 */
	private static final List<String> LAUNCHER_PREFIXES = List.of("OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "MPIR_",
			"SLURM_", "TORCHELASTIC_");

	private final SearchPath path;

	/**
	 * @param path search path for setsid(1) and timeout(1)
	 */
	BoundedProcess(SearchPath path) {
		this.path = path;
	}

	/**
	 * Runs a command until it ends or its limit passes.
	 * @param environment variables added to those of this process
	 * @param limit time after which the command is killed
	 */
	ProcessOutcome run(List<String> command, Map<String, String> environment, Duration limit)
			throws IOException, InterruptedException {
		try (TemporaryDirectory directory = TemporaryDirectory.create()) {
			Path out = directory.path().resolve("out");
			Path err = directory.path().resolve("err");
			ProcessBuilder builder = new ProcessBuilder(guarded(command, limit)).redirectOutput(out.toFile())
				.redirectError(err.toFile())
				.redirectInput(NOTHING);
			builder.environment().keySet().removeIf((name) -> LAUNCHER_PREFIXES.stream().anyMatch(name::startsWith));
			builder.environment().putAll(environment);
			long start = System.nanoTime();
			int code = await(builder, limit.plus(GRACE));
			boolean timedOut = System.nanoTime() - start >= limit.toNanos();
			return new ProcessOutcome(code, timedOut, limit.toSeconds(), lines(out), lines(err));
		}
	}

	/**
	 * setsid(1) creates a session of its own; timeout(1) also works if this JVM is
	 * killed, and gets the limit in whole seconds, rounded up.
	 */
	private List<String> guarded(List<String> command, Duration limit) {
		List<String> words = new ArrayList<>();
		this.path.find("setsid").ifPresent((setsid) -> words.add(setsid.toString()));
		this.path.find("timeout")
			.ifPresent((timeout) -> words.addAll(List.of(timeout.toString(), "--kill-after=" + GRACE.toSeconds(),
					Long.toString(limit.plusNanos(999_999_999).toSeconds()))));
		words.addAll(command);
		return words;
	}

	private static int await(ProcessBuilder builder, Duration limit) throws IOException, InterruptedException {
		try (Guard guard = new Guard()) {
			Process process = guard.start(builder);
			return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS) ? process.exitValue() : KILLED;
		}
	}

	private static List<String> lines(Path file) throws IOException {
		try (InputStream stream = Files.newInputStream(file)) {
			return new String(stream.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8).lines().toList();
		}
	}

	/** Kills a process when it is closed or this JVM ends. */
	private static final class Guard implements AutoCloseable {

		private @Nullable ExitHook atExit;

		private @Nullable Process process;

		/**
		 * The hook waits for the start. While the JVM ends, there is no start.
		 * @throws IOException if the JVM ends, or the program cannot be started
		 */
		synchronized Process start(ProcessBuilder builder) throws IOException {
			this.atExit = ExitHook.add("tutti-bench-kill", this::kill);
			this.process = builder.start();
			return this.process;
		}

		/**
		 * Also kills descendants, since launchers put their ranks into separate process
		 * groups.
		 */
		private synchronized void kill() {
			if (this.process == null || !this.process.isAlive()) {
				return;
			}
			List<ProcessHandle> descendants = this.process.descendants().toList();
			descendants.forEach(ProcessHandle::destroyForcibly);
			this.process.destroyForcibly();
		}

		@Override
		public void close() {
			kill();
			if (this.atExit != null) {
				this.atExit.close();
			}
		}

	}

}
