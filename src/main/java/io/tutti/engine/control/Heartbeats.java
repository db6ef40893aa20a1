package io.tutti.engine.control;

import java.time.Duration;

/**
 * When to ask for signs of life, and when silence means loss. A process that was itself
 * stopped for a while starts all its clocks again: it heard nothing because it did not
 * listen.
 */
public final class Heartbeats {

	/**
	 * A pause shorter than this part of the limit cannot make a live peer look silent.
	 */
	private static final int PAUSE_DIVISOR = 2;

	private static final int BEATS_PER_LIMIT = 4;

	private static final long LONGEST_INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();

	private final long limitNanos;

	private final long intervalNanos;

	private long nextBeatNanos;

	private long awakeNanos;

	private long restartNanos;

	private boolean paused;

	/**
	 * The clocks of one process.
	 * @param limit silence after which a peer counts as lost
	 */
	public Heartbeats(Duration limit, long nowNanos) {
		this.limitNanos = limit.toNanos();
		this.intervalNanos = Math.min(LONGEST_INTERVAL_NANOS, this.limitNanos / BEATS_PER_LIMIT);
		this.nextBeatNanos = nowNanos;
		this.awakeNanos = nowNanos;
		this.restartNanos = nowNanos;
	}

	/** This process runs; to be called each time before it listens. */
	public void awake(long nowNanos) {
		if (nowNanos - this.awakeNanos > this.limitNanos / PAUSE_DIVISOR) {
			this.restartNanos = nowNanos;
			this.paused = true;
		}
		this.awakeNanos = nowNanos;
	}

	/** Whether this process was stopped, not longer ago than peers take to complain. */
	public boolean pausedLately(long nowNanos) {
		return this.paused && nowNanos - this.restartNanos < this.limitNanos;
	}

	/** Whether it is time for the next beat; a yes starts the wait for another. */
	public boolean beat(long nowNanos) {
		if (this.nextBeatNanos - nowNanos > 0) {
			return false;
		}
		this.nextBeatNanos = nowNanos + this.intervalNanos;
		return true;
	}

	public long nanosUntilBeat(long nowNanos) {
		return Math.max(0, this.nextBeatNanos - nowNanos);
	}

	/** Whether a peer that was last heard of then counts as lost. */
	public boolean silent(long heardNanos, long nowNanos) {
		long since = (heardNanos - this.restartNanos > 0) ? heardNanos : this.restartNanos;
		return nowNanos - since > this.limitNanos;
	}

	/** The limit in words. */
	public String describeSilence() {
		Duration limit = Duration.ofNanos(this.limitNanos);
		boolean wholeSeconds = limit.toNanosPart() == 0;
		return "silent for " + (wholeSeconds ? limit.toSeconds() + " s" : limit.toMillis() + " ms");
	}

}
