package io.tutti.service.command;

import java.time.Duration;

/**
 * Ends the process by force if it has not ended by itself in time: whoever stops a rank
 * has been promised how long that takes.
 */
final class UncaughtFailure {

	private UncaughtFailure() {
	}

	/** Halts after a time with a code, without hooks and without waiting for anything. */
	static void haltAfter(Duration time, int code) {
		Thread.ofPlatform().name("tutti-last-resort").daemon().start(() -> {
			try {
				Thread.sleep(time);
			}
			catch (InterruptedException ex) {
				return;
			}
			Runtime.getRuntime().halt(code);
		});
	}

}
