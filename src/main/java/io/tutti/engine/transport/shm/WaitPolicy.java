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

}
