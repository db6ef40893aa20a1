package io.tutti.engine.dispatch;

import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * One call as the flight recorder remembers it.
 *
 * @param call what was called, and its place in the group's order
 * @param bytes size of the larger of this rank's two buffers
 * @param state how far it has come
 * @param issuedNanos {@link System#nanoTime()} when the caller issued it
 * @param startedNanos the same when its turn came
 * @param endedNanos the same when it ended, 0 while it runs
 * @param algorithm how it was carried out, empty while that is not known
 * @param site who called, as {@code Class.method:line}; {@code null} unless that was
 * asked for
 */
public record CallRecord(CallSignature call, long bytes, State state, long issuedNanos, long startedNanos,
		long endedNanos, String algorithm, @Nullable String site) {

	/** How far a call has come. */
	public enum State {

		/** It is under way on this rank. */
		RUNNING,
		/** This rank's part is done. */
		DONE,
		/** It threw. */
		FAILED

	}

	/**
	 * Nanoseconds from its turn to its end, or to a later time for one that still runs.
	 */
	public long durationNanos(long nowNanos) {
		return ((this.state == State.RUNNING) ? nowNanos : this.endedNanos) - this.startedNanos;
	}

}
