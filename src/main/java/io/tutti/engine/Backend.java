package io.tutti.engine;

/**
 * Carries out whole collectives for one group. Called by one thread at a time, in issue
 * order.
 */
public interface Backend extends AutoCloseable {

	/** The name people type and read, such as {@code tcp}. */
	String name();

	/**
	 * Carries one call out and returns when this rank's part is done: its buffers may be
	 * reused and its result is there.
	 * @throws CollectiveException if the call failed; the group is then broken
	 */
	void run(Call call);

	/**
	 * Wakes a call that waits on another thread, so that it sees that the group is
	 * broken. May be called from any thread, any number of times.
	 */
	void wake();

	/** Gives back connections and memory. */
	@Override
	void close();

}
