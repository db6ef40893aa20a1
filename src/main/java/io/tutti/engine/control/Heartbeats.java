package io.tutti.engine.control;

import java.time.Duration;

/**
 * Decides when to send heartbeats and when a silent peer counts as lost. A process that
 * was itself stopped for a while restarts all its timers, since it received nothing
 * during that time.
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
	 * Starts the timers of one process.
	 * @param limit silence after which a peer counts as lost
	 */
	public Heartbeats(Duration limit, long nowNanos) {
		this.limitNanos = limit.toNanos();
		this.intervalNanos = Math.min(LONGEST_INTERVAL_NANOS, this.limitNanos / BEATS_PER_LIMIT);
		this.nextBeatNanos = nowNanos;
		this.awakeNanos = nowNanos;
		this.restartNanos = nowNanos;
	}

	/** Records that this process runs. Must be called each time before it reads. */
	public void awake(long nowNanos) {
		if (nowNanos - this.awakeNanos > this.limitNanos / PAUSE_DIVISOR) {
			this.restartNanos = nowNanos;
			this.paused = true;
		}
		this.awakeNanos = nowNanos;
	}

	/** Whether this process was stopped and resumed within the silence limit. */
	public boolean pausedLately(long nowNanos) {
		return this.paused && nowNanos - this.restartNanos < this.limitNanos;
	}

	/** Whether a heartbeat is due. If so, starts the next interval. */
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

	/** Whether a peer that was last heard at the given time counts as lost. */
	public boolean silent(long lastReceivedNanos, long nowNanos) {
		long since = (lastReceivedNanos - this.restartNanos > 0) ? lastReceivedNanos : this.restartNanos;
		return nowNanos - since > this.limitNanos;
	}

	/** The silence limit for an error message. */
	public String describeSilence() {
		Duration limit = Duration.ofNanos(this.limitNanos);
		boolean wholeSeconds = limit.toNanosPart() == 0;
		return "silent for " + (wholeSeconds ? limit.toSeconds() + " s" : limit.toMillis() + " ms");
	}

}
