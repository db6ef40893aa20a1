package io.tutti.engine.dispatch;

import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * One call in the flight recorder.
 *
 * @param call the call and its sequence number
 * @param bytes size of the larger of this rank's two buffers
 * @param state progress of the call
 * @param issuedNanos {@link System#nanoTime()} when the caller issued it
 * @param startedNanos the same when its turn came
 * @param endedNanos the same when it ended, 0 while it runs
 * @param algorithm name of the algorithm, empty while it is not known
 * @param site the caller's label, or call site as {@code Class.method:line} if those are
 * recorded, otherwise {@code null}
 */
public record CallRecord(CallSignature call, long bytes, State state, long issuedNanos, long startedNanos,
		long endedNanos, String algorithm, @Nullable String site) {

	/** Progress of a call. */
	public enum State {

		/** It runs on this rank. */
		RUNNING,
		/** This rank's part is done. */
		DONE,
		/** It threw. */
		FAILED

	}

	/** Nanoseconds from its turn to its end, or to {@code nowNanos} if it still runs. */
	public long durationNanos(long nowNanos) {
		return ((this.state == State.RUNNING) ? nowNanos : this.endedNanos) - this.startedNanos;
	}

}
