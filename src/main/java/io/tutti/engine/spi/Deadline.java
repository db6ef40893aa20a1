package io.tutti.engine.spi;

import java.time.Duration;

/**
 * The time by which a whole operation must be done. The same deadline is passed to every
 * step; it is never split into timeouts per step. Monotonic: wall-clock changes do not
 * affect it. Not thread safe during a restart. A group restarts one instance for each
 * call to avoid allocation.
 */
public final class Deadline {

	private long startNanos;

	private long timeoutNanos;

	Deadline() {
	}

	/**
	 * A deadline that starts now.
	 * @param timeout more than zero; durations above 292 years are reduced to that
	 * @throws IllegalArgumentException if the timeout is zero or negative
	 */
	public static Deadline after(Duration timeout) {
		Deadline deadline = new Deadline();
		deadline.restart(System.nanoTime(), nanosOf(timeout));
		return deadline;
	}

	/**
	 * A timeout in nanoseconds; durations above 292 years are reduced to that.
	 * @throws IllegalArgumentException if the timeout is zero or negative
	 */
	public static long nanosOf(Duration timeout) {
		if (timeout.isZero() || timeout.isNegative()) {
			throw new IllegalArgumentException("a timeout must be more than zero, got " + timeout);
		}
		try {
			return timeout.toNanos();
		}
		catch (ArithmeticException ex) {
			return Long.MAX_VALUE;
		}
	}

	/** The shorter one of two durations. */
	public static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	/** Starts again, so that a group can reuse one deadline for all its calls. */
	public void restart(long startNanos, long timeoutNanos) {
		this.startNanos = startNanos;
		this.timeoutNanos = timeoutNanos;
	}

	/** Whether the deadline has passed. */
	public boolean expired() {
		return elapsedNanos() >= this.timeoutNanos;
	}

	/** Nanoseconds left, 0 if the deadline has passed. */
	public long remainingNanos() {
		return Math.max(0, this.timeoutNanos - elapsedNanos());
	}

	/**
	 * Time left as the timeout of a step, which is more than zero also if the deadline
	 * has passed.
	 */
	public Duration remaining() {
		return Duration.ofNanos(Math.max(1, remainingNanos()));
	}

	/** Nanoseconds since the start. */
	public long elapsedNanos() {
		return System.nanoTime() - this.startNanos;
	}

	/** Time since the start. */
	public Duration elapsed() {
		return Duration.ofNanos(elapsedNanos());
	}

	/** The whole timeout. */
	public Duration timeout() {
		return Duration.ofNanos(this.timeoutNanos);
	}

}
