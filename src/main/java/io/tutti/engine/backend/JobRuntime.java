package io.tutti.engine.backend;

import io.tutti.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The resources that all groups of a process share.
 */
interface JobRuntime extends AutoCloseable {

	/**
	 * Called before this rank leaves its groups. A runtime that cannot survive a failure
	 * ends the process here.
	 * @param failure the failure that broke the group of all ranks, or {@code null}
	 */
	default void leaving(@Nullable Failure failure) {
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
