package io.tutti.service.command;

import java.time.Duration;

/**
 * Halts the process if it has not exited in time, since the time that a rank takes to
 * stop is documented.
 */
final class UncaughtFailure {

	private UncaughtFailure() {
	}

	/** Halts the JVM with an exit code after a delay, without running shutdown hooks. */
	static void haltAfter(Duration time, int code) {
		Thread.ofPlatform().name("tutti-last-resort").daemon().start(() -> {
			try {
				Thread.sleep(time);
			}
			catch (InterruptedException ex) {
				return;
			}
			System.err.println("tutti: this rank did not end within " + time.toSeconds() + " s and is halted");
			Runtime.getRuntime().halt(code);
		});
	}

}
