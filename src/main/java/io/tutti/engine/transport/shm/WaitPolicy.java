package io.tutti.engine.transport.shm;

/**
 * How a rank waits for its peers, as the waiting code sees it.
 */
interface WaitPolicy {

	/**
	 * Nothing moved in this round.
	 * @throws io.tutti.CollectiveException if there is no point in waiting on
	 */
	void stalled();

	/** Something moved. */
	void moved();

}
