package io.tutti.engine.rendezvous;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.engine.FailureReporter;

/**
 * The side of a group that answers while its data plane is stuck: reports, posts,
 * verdicts, heartbeats, labelled barriers, accounts, the request to stop. Safe for any
 * number of threads.
 */
public interface ControlPlane extends FailureReporter, AutoCloseable {

	/** The longest label of a barrier, in characters. */
	int MAX_LABEL_CHARACTERS = 256;

	/**
	 * Meets the other ranks at a label. This rank's k-th call of a label joins its k-th
	 * barrier; the first deadline breaks it for all who had come.
	 * @param label 1 to 256 characters
	 * @param timeout how long this rank waits
	 * @return who came when, and who was missing
	 * @throws io.tutti.engine.CollectiveException if the group is or becomes broken
	 */
	BarrierOutcome barrier(String label, Duration timeout);

	/** Asks every rank to stop at the next step boundary. */
	void requestDrain(String reason);

	/**
	 * Asks every rank for its account of its last calls and returns when those that are
	 * there have answered, or when the time is up. Never fails: who did not answer is not
	 * in the result.
	 * @param limit how many calls of each group are wanted at most; fewer come where
	 * there are many ranks
	 * @return by rank, this one included
	 */
	Map<Integer, byte[]> askAccounts(int limit, Duration timeout);

	/** What is known of every other rank, by rank. */
	List<PeerStatus> peers();

	/**
	 * Says goodbye, so that nobody takes this rank for lost, and closes the connection.
	 */
	@Override
	void close();

}
