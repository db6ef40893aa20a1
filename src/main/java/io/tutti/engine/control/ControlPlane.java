package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.tutti.Failure;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * A rank's access to the control plane, which works while the data plane is stuck:
 * failure reports, call reports, verdicts, heartbeats, labelled barriers, traces and
 * drain requests. Thread safe.
 */
public interface ControlPlane extends FailureReporter, AutoCloseable {

	/** The longest label of a barrier, in characters. */
	int MAX_LABEL_CHARACTERS = 256;

	/**
	 * Enters a labelled barrier. This rank's k-th call with a label joins the k-th round
	 * of that label. The first deadline to pass breaks the round for every rank that has
	 * entered it.
	 * @param label 1 to 256 characters
	 * @param timeout how long this rank waits
	 * @return the arrival time of each rank, and the missing ranks
	 * @throws io.tutti.CollectiveException if the group is or becomes broken, or a rank
	 * leaves it
	 */
	default BarrierOutcome barrier(String label, Duration timeout) {
		return barrier(RoundWait.next(label, timeout));
	}

	/**
	 * Enters a round of a labelled barrier. A call whose client has disconnected is
	 * withdrawn, and the rank's next call takes its place in the round.
	 * @return the arrival time of each rank, and the missing ranks
	 * @throws io.tutti.CollectiveException if the group is or becomes broken, or a rank
	 * leaves it
	 */
	BarrierOutcome barrier(RoundWait wait);

	/**
	 * Announces a call before this rank makes it, so that ranks never make calls that do
	 * not match. Rounds work as at a barrier and are counted separately from barriers.
	 * @param call the announced call, with sequence 0; a negative count matches the count
	 * of the other ranks
	 * @return whether all ranks announced the same call, and the order in which every
	 * rank must make such calls
	 * @throws io.tutti.CollectiveException if the group is or becomes broken, or a rank
	 * leaves it
	 */
	CallMatch match(RoundWait wait, CallSignature call);

	/**
	 * Breaks the groups of this rank that a failure concerns, without rank 0: another
	 * rank has left the job because of it, and has told this one otherwise. Returns at
	 * once.
	 */
	void fail(int left, Failure failure);

	/** Asks every rank to stop at the next step boundary. */
	void requestDrain(String reason);

	/**
	 * Asks every rank for a trace of its last calls. Returns when all ranks that are up
	 * have answered or the timeout has passed. Never fails: a rank that did not answer is
	 * not in the result.
	 * @param limit the maximum number of calls per group; with many ranks each rank
	 * returns fewer
	 * @return traces by rank, this rank included
	 */
	Map<Integer, byte[]> queryTraces(int limit, Duration timeout);

	/**
	 * Asks every rank for a reply without a trace. Returns when all ranks that are up
	 * have answered or the timeout has passed. Never fails: a rank that did not answer is
	 * not in the result. Ranks that have left or are lost are not asked.
	 * @return by rank, this rank included, the time until its answer came via rank 0
	 */
	Map<Integer, Duration> rollCall(Duration timeout);

	/**
	 * Completes when this rank's own control thread runs it, which is at once unless that
	 * thread is stuck or has ended by itself. Involves no other rank. After
	 * {@link #close()} the result is already complete.
	 */
	CompletableFuture<Void> echo();

	/** The status of every other rank, by rank. */
	List<PeerStatus> peers();

	/** The status of another rank, {@code null} until rendezvous completes. */
	@Nullable PeerStatus peer(int rank);

	/**
	 * Leaves, so that no rank takes this rank for lost, and closes the connection.
	 */
	@Override
	void close();

}
