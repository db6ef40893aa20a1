package io.tutti.engine.control;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of a rank's wait at a label.
 *
 * @param label 1 to 256 characters
 * @param round which round of the label, as every rank names it; {@link #NEXT} for the
 * rank's next one
 * @param timeout how long the rank waits
 * @param client whether the client on whose behalf the rank waits is still connected.
 * Called on the waiting thread at intervals, and once more before the round completes.
 * {@code null} if the rank waits on its own behalf.
 */
public record RoundWait(String label, long round, Duration timeout, @Nullable BooleanSupplier client) {

	/** Instead of a named round: the k-th call with a label joins its k-th round. */
	public static final long NEXT = -1;

	public RoundWait {
		if (label.isEmpty() || label.length() > ControlPlane.MAX_LABEL_CHARACTERS) {
			throw new IllegalArgumentException("a barrier label must have 1.." + ControlPlane.MAX_LABEL_CHARACTERS
					+ " characters, got " + label.length());
		}
		if (round < NEXT) {
			throw new IllegalArgumentException("a round must be 0 or more, or " + NEXT + " for the next, got " + round);
		}
		if (timeout.isZero() || timeout.isNegative()) {
			throw new IllegalArgumentException("a barrier timeout must be more than zero, got " + timeout);
		}
	}

	/** A wait on the rank's own behalf for its next round of a label. */
	public static RoundWait next(String label, Duration timeout) {
		return new RoundWait(label, NEXT, timeout, null);
	}

}
