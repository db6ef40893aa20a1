package io.tutti.engine.p2p;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.DepartedRanks;
import io.tutti.engine.Failure;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Finds out that a message will not get through any more, and says why.
 */
final class MessageFailures {

	/** How long a connection may take to arrive that a rank made before it left. */
	private static final Duration ARRIVING = Duration.ofMillis(500);

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final ProgressEngine office;

	MessageFailures(GroupIdentity identity, FailureLatch latch, ProgressEngine office) {
		this.identity = identity;
		this.latch = latch;
		this.office = office;
	}

	/**
	 * Checks that the group can carry messages at all.
	 * @throws CollectiveException if the group is broken
	 */
	void requireWhole() {
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw CollectiveException.of(this.identity.worldRank(), earlier, null);
		}
	}

	/**
	 * Checks that an operation may yet end well.
	 * @throws CollectiveException if the group is broken, the peer lost or the deadline
	 * passed
	 */
	void requireAlive(Operation operation, long now) {
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw during(operation, CollectiveException.of(this.identity.worldRank(), earlier, null), now);
		}
		this.office.enter();
		try {
			if (operation.done) {
				return;
			}
			PeerChannel.Loss lost = this.office.postroom().lost(operation);
			if (lost != null) {
				throw lost(operation, lost, now);
			}
			requireNotLeft(operation, now);
			operation.see(this.office.postroom().movedBytes(operation), now);
			if (operation.stopwatch.remainingNanos(now) <= 0) {
				throw failure(Failure.Kind.TIMEOUT, operation, peersOf(operation), own(operation) + " was not done"
						+ operation.progress(now) + this.office.postroom().hindrance(operation), now);
			}
		}
		finally {
			this.office.leave();
		}
	}

	private CollectiveException lost(Operation operation, PeerChannel.Loss lost, long now) {
		String detail = own(operation) + ": " + lost.why();
		return lost.peerAtFault() ? failure(Failure.Kind.PEER_LOST, operation, peersOf(operation), detail, now)
				: failure(Failure.Kind.ABORTED, operation, List.of(this.identity.rank()), detail, now);
	}

	/** Why nothing can be sent to a rank any more, {@code null} if it has not left. */
	@Nullable CollectiveException left(int peer) {
		DepartedRanks departed = this.latch.departed();
		int worldRank = this.identity.members().get(peer);
		if (departed.isEmpty() || !departed.contains(worldRank)) {
			return null;
		}
		return CollectiveException.of(this.identity.worldRank(),
				Failure.outside(Failure.departure(this.identity.name()), this.identity.name(), List.of(worldRank),
						"rank " + this.identity.worldRank() + " cannot send to it: " + departed.describe(worldRank)),
				null);
	}

	/**
	 * Checks that those whom an operation needs have not left the group. What they sent
	 * before may yet arrive: over a connection whose end has not come, or, where there is
	 * none, over one that they made last of all.
	 */
	private void requireNotLeft(Operation operation, long now) {
		DepartedRanks departed = this.latch.departed();
		if (departed.isEmpty()) {
			return;
		}
		List<Integer> needed = (operation.peer >= 0) ? List.of(operation.peer) : others();
		if (!needed.isEmpty() && needed.stream().allMatch((peer) -> hasLeft(operation, peer))) {
			throw left(operation, needed, now);
		}
	}

	private boolean hasLeft(Operation operation, int peer) {
		int worldRank = this.identity.members().get(peer);
		return operation.sends ? this.latch.departed().contains(worldRank)
				: this.latch.departed().isAbsentFor(worldRank, ARRIVING) && !this.office.postroom().connected(peer);
	}

	/** Who may send something to a receive from any rank. */
	private List<Integer> others() {
		return IntStream.range(0, this.identity.worldSize())
			.filter((rank) -> rank != this.identity.rank())
			.boxed()
			.toList();
	}

	private CollectiveException left(Operation operation, List<Integer> peers, long now) {
		return failure(Failure.departure(this.identity.name()), operation, peers,
				own(operation) + ": " + this.latch.departed().describe(this.identity.members().get(peers.getFirst())),
				now);
	}

	/**
	 * Checks that nobody wants the calling thread back.
	 * @throws CollectiveException if it was interrupted
	 */
	void requireNotInterrupted(Operation operation, long now) {
		if (Thread.currentThread().isInterrupted()) {
			throw failure(Failure.Kind.ABORTED, operation, List.of(this.identity.rank()),
					"the calling thread was interrupted in a " + operation, now, new InterruptedException());
		}
	}

	/**
	 * A failure that was not found out in an operation, told with it: a rank may be lost
	 * while each of the others is somewhere else.
	 */
	static CollectiveException during(Operation operation, CollectiveException failure, long now) {
		return failure.during(operation.toString(), Duration.ofNanos(operation.stopwatch.elapsedNanos(now)));
	}

	/** Something of this rank's own broke: none of its messages gets through. */
	static CollectiveException broken(GroupIdentity identity, Throwable cause) {
		return CollectiveException.of(identity.worldRank(), Failure.outside(Failure.Kind.ABORTED, identity.name(),
				List.of(identity.worldRank()), "this rank's messages cannot go on: " + cause), cause);
	}

	/** This rank has closed the group during an operation. */
	void abandon() {
		this.latch.trip(Failure.outside(Failure.Kind.ABORTED, this.identity.name(), List.of(this.identity.worldRank()),
				"this rank closed the group during a send or receive"));
	}

	/** Small sends that have returned are not sent when the group is closed. */
	CollectiveException unsent(Duration waited, boolean interrupted) {
		String ended = interrupted ? "the closing thread was interrupted after " + waited.toMillis() + " ms"
				: "tutti.timeout.drain passed after " + waited.toMillis() + " ms";
		return CollectiveException.of(this.identity.worldRank(),
				Failure.outside(Failure.Kind.ABORTED, this.identity.name(), List.of(this.identity.worldRank()),
						"rank " + this.identity.worldRank() + " closed the group with small sends to "
								+ this.office.queuedPeers(this.identity.members()) + " still queued, and " + ended
								+ ": the messages are lost; receive them before the group is closed"),
				interrupted ? new InterruptedException() : null);
	}

	/** Why nothing goes through a closed group. */
	CollectiveException closed() {
		Failure failure = this.latch.failure();
		return CollectiveException.of(this.identity.worldRank(),
				(failure != null) ? failure : Failure.outside(Failure.Kind.ABORTED, this.identity.name(),
						List.of(this.identity.worldRank()), "this rank closed the group"),
				null);
	}

	/** Every rank is told of it. */
	private String own(Operation operation) {
		return "rank " + this.identity.worldRank() + "'s " + operation;
	}

	private static List<Integer> peersOf(Operation operation) {
		return (operation.peer >= 0) ? List.of(operation.peer) : List.of();
	}

	private CollectiveException failure(Failure.Kind kind, Operation operation, List<Integer> groupRanks, String detail,
			long now) {
		return failure(kind, operation, groupRanks, detail, now, null);
	}

	private CollectiveException failure(Failure.Kind kind, Operation operation, List<Integer> groupRanks, String detail,
			long now, @Nullable Throwable cause) {
		List<Integer> worldRanks = groupRanks.stream().map(this.identity.members()::get).toList();
		return CollectiveException.of(this.identity.worldRank(),
				new Failure(kind, this.identity.name(), -1, null, worldRanks, detail,
						Duration.ofNanos(operation.stopwatch.elapsedNanos(now)),
						Duration.ofNanos(operation.stopwatch.timeoutNanos())),
				cause);
	}

}
