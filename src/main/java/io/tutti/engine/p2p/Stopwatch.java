package io.tutti.engine.p2p;

/**
 * How long an operation has been under way since somebody first asked: a message that
 * needs no wait needs no clock.
 */
final class Stopwatch {

	private long startNanos;

	private boolean started;

	private long timeoutNanos;

	void reset(long timeoutNanos) {
		this.timeoutNanos = timeoutNanos;
		this.started = false;
	}

	/** Starts it, unless it runs. */
	long elapsedNanos(long now) {
		if (!this.started) {
			this.started = true;
			this.startNanos = now;
		}
		return now - this.startNanos;
	}

	/** How long there is left, negative if the time is up. */
	long remainingNanos(long now) {
		return this.timeoutNanos - elapsedNanos(now);
	}

	/** The whole time that was given. */
	long timeoutNanos() {
		return this.timeoutNanos;
	}

}
