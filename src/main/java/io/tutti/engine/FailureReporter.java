package io.tutti.engine;

/**
 * Takes what a rank saw to whoever decides: rank 0, whose verdict then trips the
 * {@link FailureLatch} of every group concerned, on every rank.
 */
public interface FailureReporter {

	/** Reports a failure and returns at once; from any thread. */
	void report(Failure failure);

	/**
	 * Posts what this rank has called, for comparison with the other ranks' posts, and
	 * returns at once; from any thread. Where nobody compares, a post has no effect.
	 */
	default void post(CallPost post) {
	}

}
