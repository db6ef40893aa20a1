package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.tutti.engine.spi.Deadline;

/**
 * Exponential back-off with jitter, so that many ranks do not retry in lockstep.
 */
final class Backoff {

	private static final long FIRST_NANOS = Duration.ofMillis(20).toNanos();

	private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

	private long pauseNanos = FIRST_NANOS;

	/**
	 * Pauses, not beyond the deadline.
	 * @return whether there is time left for another attempt
	 */
	boolean sleep(Deadline deadline) throws InterruptedException {
		Thread.sleep(Duration.ofNanos(Math.min(nextNanos(), deadline.remainingNanos())));
		return !deadline.expired();
	}

	/** The next pause. */
	long nextNanos() {
		long jittered = this.pauseNanos / 2 + ThreadLocalRandom.current().nextLong(this.pauseNanos / 2);
		this.pauseNanos = Math.min(LONGEST_NANOS, 2 * this.pauseNanos);
		return jittered;
	}

}
