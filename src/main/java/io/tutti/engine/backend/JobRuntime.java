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
	 * Called when the group of all ranks has been aborted. A runtime that can end every
	 * process of the job does so, and does not return.
	 */
	default void abort(int code, String reason) {
	}

	/** Releases the shared resources. */
	@Override
	void close();

}
