package io.tutti.engine.failure;

import java.time.Duration;
import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.GroupIdentity;

/**
 * Reports the failures of a rank to rank 0, whose verdict then trips the
 * {@link FailureLatch} of every affected group on every rank.
 */
public interface FailureReporter {

	/** Reports a failure and returns at once; from any thread. */
	void report(Failure failure);

	/**
	 * The failure to use if no verdict on a reported failure comes in time. Where it may
	 * be a consequence of the silence of rank 0, rank 0 is at fault, on every rank.
	 * @param waited time spent waiting for the verdict
	 */
	default Failure withoutVerdict(Failure seen, Duration waited) {
		return seen;
	}

	/**
	 * Announces that this rank has left a group, so that the other ranks stop waiting for
	 * it. Returns at once; from any thread.
	 * @param lastCompleted sequence number of the last collective that this rank has
	 * completed there, {@link DepartedRanks#NONE_COMPLETED} for none
	 */
	default void left(GroupIdentity group, long lastCompleted) {
	}

	/**
	 * Reports a call of this rank for comparison with the other ranks' calls. Returns at
	 * once; from any thread. Has no effect if the implementation does not compare calls.
	 */
	default void reportCall(CallReport call) {
	}

	/**
	 * Reports this rank's calls in one group since its last report, in order. The last of
	 * them may still run; the others have ended. Returns at once; from any thread.
	 */
	default void reportCalls(List<CallReport> calls) {
		calls.forEach(this::reportCall);
	}

}
