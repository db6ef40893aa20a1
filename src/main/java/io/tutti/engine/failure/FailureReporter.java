package io.tutti.engine.failure;

import java.time.Duration;
import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.GroupIdentity;

/**
 * Takes what a rank saw to whoever decides: rank 0, whose verdict then trips the
 * {@link FailureLatch} of every group concerned, on every rank.
 */
public interface FailureReporter {

	/** Reports a failure and returns at once; from any thread. */
	void report(Failure failure);

	/**
	 * What a failure is told as that was reported, but that nobody has judged in time.
	 * @param waited how long that was
	 */
	default Failure unjudged(Failure seen, Duration waited) {
		return seen;
	}

	/**
	 * Says that this rank has left a group, so that the other ranks wait for nothing of
	 * it any more. Returns at once; from any thread.
	 * @param lastCompleted sequence number of the last collective that this rank has
	 * completed there, {@link DepartedRanks#NONE_COMPLETED} if there is none
	 */
	default void left(GroupIdentity group, long lastCompleted) {
	}

	/**
	 * Posts what this rank has called, for comparison with the other ranks' posts, and
	 * returns at once; from any thread. Where nobody compares, a post has no effect.
	 */
	default void post(CallReport post) {
	}

	/**
	 * Posts what this rank has called in one group since its last word, in order: it may
	 * still be in the last of these calls, and has left the others. Returns at once; from
	 * any thread.
	 */
	default void post(List<CallReport> posts) {
		posts.forEach(this::post);
	}

}
