package io.tutti.engine.backend;

import io.tutti.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What all groups of a process are carried by, beside what each has of its own.
 */
interface JobRuntime extends AutoCloseable {

	/**
	 * This rank is about to leave its groups; what cannot survive a failure ends the
	 * process here.
	 * @param failure what broke the group of all ranks, or {@code null}
	 */
	void leaving(@Nullable Failure failure);

	/**
	 * Ends every process of the job at once with an exit code, where it can.
	 * @return whether it can; if so, it does not return
	 */
	boolean abort(int code);

	/** Gives back what it holds. */
	@Override
	void close();

}
