package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

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
	 * @throws io.tutti.CollectiveException if the group is or becomes broken
	 */
	default BarrierOutcome barrier(String label, Duration timeout) {
		return barrier(RoundWait.next(label, timeout));
	}

	/**
	 * Meets the other ranks in a round of a label. A call whose client is gone is
	 * withdrawn, and the rank's next call takes its place in the round.
	 * @return who came when, and who was missing
	 * @throws io.tutti.CollectiveException if the group is or becomes broken
	 */
	BarrierOutcome barrier(RoundWait wait);

	/**
	 * Announces a call before making it, so that one that could not succeed is never
	 * made. Ranks meet in a round of the label as at a barrier, in a count of its own.
	 * @param call what this rank would call, with sequence 0; a negative count takes what
	 * the others bring
	 * @return whether all announced the same, and the call's place among all such calls,
	 * in which every rank must make them
	 * @throws io.tutti.CollectiveException if the group is or becomes broken
	 */
	CallMatch match(RoundWait wait, CallSignature call);

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
	Map<Integer, byte[]> queryTraces(int limit, Duration timeout);

	/**
	 * Asks every rank for a sign of life and returns when all have answered, or when the
	 * time is up. Never fails: who did not answer is not in the result. Those who have
	 * gone are asked nothing.
	 * @return by rank, this one included, how long the answer took by way of rank 0
	 */
	Map<Integer, Duration> rollCall(Duration timeout);

	/**
	 * Completes when this rank's own control thread has come to it: at once, unless that
	 * thread is stuck or has ended by itself. Concerns no other rank; one that is closed
	 * has nothing to come to.
	 */
	CompletableFuture<Void> echo();

	/** What is known of every other rank, by rank. */
	List<PeerStatus> peers();

	/** What is known of another rank, {@code null} until ranks have met. */
	@Nullable PeerStatus peer(int rank);

	/**
	 * Says goodbye, so that nobody takes this rank for lost, and closes the connection.
	 */
	@Override
	void close();

}
