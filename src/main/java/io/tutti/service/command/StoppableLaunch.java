package io.tutti.service.command;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.ExitCode;
import io.tutti.launch.LocalLauncher;

/**
 * Runs a launcher and passes SIGTERM, SIGHUP and Ctrl-C on to its ranks. Such a signal
 * runs the JVM's shutdown hooks. The hook of this class stops the ranks, waits until they
 * have ended and halts the JVM with their exit code instead of the signal's.
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

	/** Removes the hook. A hook that is already running halts the JVM itself. */
	private static void forget(Thread hook) {
		try {
			Runtime.getRuntime().removeShutdownHook(hook);
		}
		catch (IllegalStateException ex) {
			// The JVM is shutting down: the running hook has the exit code.
		}
	}

}
