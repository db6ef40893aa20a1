package io.tutti.engine.transport.shm;

/**
 * Back-off of a rank that waits for its peers.
 */
interface WaitPolicy {

	/**
	 * No progress since the last call.
	 * @throws io.tutti.CollectiveException if the wait must end
	 */
	void stalled();

	/** There was progress. */
	void moved();

	/**
	 * Checks, after a step that takes long, that the call can still end well.
	 * @throws io.tutti.CollectiveException if it must end
	 */
	void check();

}
