package io.tutti.service.command;

import java.time.Duration;

/**
 * Halts the process if it has not exited in time, since the time that a rank takes to
 * stop is documented.
 */
final class ExitDeadline {

	/** How long the message may take: the reader of standard error may have stopped. */
	private static final Duration MESSAGE_LIMIT = Duration.ofMillis(200);

	private ExitDeadline() {
	}

	/** Halts the JVM with an exit code after a delay, without running shutdown hooks. */
	static void haltAfter(Duration time, int code) {
		Thread.ofPlatform().name("tutti-last-resort").daemon().start(() -> {
			try {
				Thread.sleep(time);
				String message = "tutti: this rank did not end within " + time.toSeconds() + " s and is halted";
				Thread.ofPlatform().daemon().start(() -> System.err.println(message)).join(MESSAGE_LIMIT);
			}
			catch (InterruptedException ex) {
				// The process is halted all the same.
			}
			finally {
				Runtime.getRuntime().halt(code);
			}
		});
	}

}
