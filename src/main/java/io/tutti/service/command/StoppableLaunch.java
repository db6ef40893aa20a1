package io.tutti.service.command;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.launch.ExitCode;
import io.tutti.launch.LocalLauncher;

/**
 * Runs a launcher so that SIGTERM, SIGHUP and Ctrl-C reach its ranks. Such a signal ends
 * the JVM through its shutdown hooks: this one stops the ranks, waits for their end and
 * then ends the JVM with their exit code instead of the signal's.
 */
final class StoppableLaunch {

	private final LocalLauncher launcher;

	private final Duration longestStop;

	private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

	StoppableLaunch(LocalLauncher launcher, Duration longestStop) {
		this.launcher = launcher;
		this.longestStop = longestStop;
	}

	int run() throws IOException, InterruptedException {
		Thread hook = new Thread(this::stopAndHalt, "tutti-launch-stop");
		Runtime.getRuntime().addShutdownHook(hook);
		try {
			int code = this.launcher.run();
			this.exitCode.complete(code);
			return code;
		}
		finally {
			this.exitCode.complete(ExitCode.INTERNAL);
			forget(hook);
		}
	}

	private void stopAndHalt() {
		this.launcher.stop();
		Runtime.getRuntime().halt(awaitExitCode());
	}

	private int awaitExitCode() {
		try {
			return this.exitCode.get(this.longestStop.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			return ExitCode.INTERNAL;
		}
	}

	/** If the hook runs already it ends the JVM itself. */
	private static void forget(Thread hook) {
		try {
			Runtime.getRuntime().removeShutdownHook(hook);
		}
		catch (IllegalStateException ex) {
			// The JVM is ending: the hook is at work and has the exit code.
		}
	}

}
