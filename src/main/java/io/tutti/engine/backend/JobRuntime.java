package io.tutti.engine.backend;

/**
 * The resources that all groups of a process share.
 */
interface JobRuntime extends AutoCloseable {

	/**
	 * Called when this rank has left its groups, before it leaves the job. A runtime that
	 * cannot survive a failure of a group ends the process here.
	 */
	default void leaving() {
	}

	/**
	 * Ends every process of the job at once with an exit code, if the runtime supports
	 * that; in that case it does not return.
	 * @return {@code false} if it is not supported
	 */
	default boolean abort(int code) {
		return false;
	}

	/** Releases the shared resources. */
	@Override
	void close();

}
