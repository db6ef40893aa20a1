package io.tutti.engine.p2p;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether messages can still be delivered, and builds their failures.
 */
final class MessageFailures {

	/** How long the connection of a rank may take to arrive that has left since. */
	private static final Duration ARRIVING = Duration.ofMillis(500);

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final ProgressEngine engine;

	MessageFailures(GroupIdentity identity, FailureLatch latch, ProgressEngine engine) {
		this.identity = identity;
		this.latch = latch;
		this.engine = engine;
	}

	/**
	 * Checks that the group can carry messages at all.
	 * @throws CollectiveException if the group is broken
	 */
	void requireWhole() {
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw this.identity.exception(earlier, null);
		}
	}

	/**
	 * Checks that an operation can still succeed.
	 * @throws CollectiveException if the group is broken, the peer lost or the deadline
	 * passed
	 */
	void requireAlive(MessageOperation operation, long now) {
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw during(operation, this.identity.exception(earlier, null), now);
		}
		this.engine.enter();
		try {
			if (operation.done) {
				return;
			}
			PeerChannel.Loss lost = this.engine.channels().lost(operation);
			if (lost != null) {
				throw lost(operation, lost, now);
			}
			requireNotLeft(operation, now);
			operation.recordProgress(this.engine.channels().movedBytes(operation), now);
			if (operation.remainingNanos(now) <= 0) {
				expire(operation, now);
			}
		}
		finally {
			this.engine.leave();
		}
	}

	/**
	 * Ends an operation alone at its deadline if no message has matched it. Requires the
	 * lock.
	 */
	private void expire(MessageOperation operation, long now) {
		boolean alone = operation.independent && operation.withdrawal == null
				&& this.engine.withdraw(operation, failure(Failure.Kind.TIMEOUT, operation, peersOf(operation),
						own(operation) + " matched no message and was withdrawn; the group stays usable", now));
		if (!alone) {
			throw failure(Failure.Kind.TIMEOUT, operation, peersOf(operation),
					own(operation) + " was not done" + operation.progress(now), now);
		}
	}

	private String queuedPeers() {
		this.engine.enter();
		try {
			return this.engine.channels()
				.known()
				.stream()
				.filter(PeerChannel::hasQueued)
				.map((peer) -> "rank " + this.identity.members().get(peer.peer))
				.collect(Collectors.joining(", "));
		}
		finally {
			this.engine.leave();
		}
	}

	private CollectiveException lost(MessageOperation operation, PeerChannel.Loss lost, long now) {
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
		return this.identity.exception(
				Failure.outside(Failure.departure(this.identity.name()), this.identity.name(), List.of(worldRank),
						"rank " + this.identity.worldRank() + " cannot send to it: " + departed.describe(worldRank)),
				null);
	}

	/**
	 * Checks that the peers of an operation have not left the group. What they sent
	 * before may still arrive: over a connection that has not ended, or, where there is
	 * none, over one that they made last.
	 */
	private void requireNotLeft(MessageOperation operation, long now) {
		DepartedRanks departed = this.latch.departed();
		if (departed.isEmpty()) {
			return;
		}
		List<Integer> needed = (operation.peer >= 0) ? List.of(operation.peer) : others();
		if (!needed.isEmpty() && needed.stream().allMatch((peer) -> hasLeft(operation, peer))) {
			throw left(operation, needed, now);
		}
	}

	private boolean hasLeft(MessageOperation operation, int peer) {
		int worldRank = this.identity.members().get(peer);
		return operation.sends() ? this.latch.departed().contains(worldRank)
				: this.latch.departed().isAbsentFor(worldRank, ARRIVING) && !this.engine.channels().connected(peer);
	}

	/** The ranks that may send to a receive from any rank. */
	private List<Integer> others() {
		return IntStream.range(0, this.identity.worldSize())
			.filter((rank) -> rank != this.identity.rank())
			.boxed()
			.toList();
	}

	private CollectiveException left(MessageOperation operation, List<Integer> peers, long now) {
		return failure(Failure.departure(this.identity.name()), operation, peers,
				own(operation) + ": " + this.latch.departed().describe(this.identity.members().get(peers.getFirst())),
				now);
	}

	/**
	 * Checks that the calling thread is not interrupted.
	 * @throws CollectiveException if it was interrupted
	 */
	void requireNotInterrupted(MessageOperation operation, long now) {
		if (Thread.currentThread().isInterrupted()) {
			throw failure(Failure.Kind.ABORTED, operation, List.of(this.identity.rank()),
					"the calling thread was interrupted in a " + operation, now, new InterruptedException());
		}
	}

	/**
	 * Adds an operation to a failure that was detected elsewhere.
	 */
	static CollectiveException during(MessageOperation operation, CollectiveException failure, long now) {
		return failure.during(operation.toString(), Duration.ofNanos(operation.elapsedNanos(now)));
	}

	/** An error on this rank: none of its messages can be delivered. */
	static CollectiveException broken(GroupIdentity identity, Throwable cause) {
		return identity.exception(Failure.outside(Failure.Kind.ABORTED, identity.name(), List.of(identity.worldRank()),
				"this rank's message engine failed: " + cause), cause);
	}

	/** This rank closes the group while an operation is in flight. */
	void abandon() {
		this.latch.trip(Failure.outside(Failure.Kind.ABORTED, this.identity.name(), List.of(this.identity.worldRank()),
				"this rank closed the group during a send or receive"));
	}

	/** Small sends that have returned are not sent when the group is closed. */
	CollectiveException unsent(Duration waited, boolean interrupted) {
		String ended = interrupted ? "the closing thread was interrupted after " + waited.toMillis() + " ms"
				: "tutti.timeout.drain passed after " + waited.toMillis() + " ms";
		return this.identity.exception(
				Failure.outside(Failure.Kind.ABORTED, this.identity.name(), List.of(this.identity.worldRank()),
						"rank " + this.identity.worldRank() + " closed the group with small sends to " + queuedPeers()
								+ " still queued, and " + ended
								+ ": the messages are lost; receive them before the group is closed"),
				interrupted ? new InterruptedException() : null);
	}

	/** The failure of operations in a closed group. */
	CollectiveException closed() {
		Failure failure = this.latch.failure();
		return this.identity.exception((failure != null) ? failure : Failure.outside(Failure.Kind.ABORTED,
				this.identity.name(), List.of(this.identity.worldRank()), "this rank closed the group"), null);
	}

	/** Names this rank, since every rank throws it. */
	private String own(MessageOperation operation) {
		return "rank " + this.identity.worldRank() + "'s " + operation;
	}

	private static List<Integer> peersOf(MessageOperation operation) {
		return (operation.peer >= 0) ? List.of(operation.peer) : List.of();
	}

	private CollectiveException failure(Failure.Kind kind, MessageOperation operation, List<Integer> groupRanks,
			String detail, long now) {
		return failure(kind, operation, groupRanks, detail, now, null);
	}

	private CollectiveException failure(Failure.Kind kind, MessageOperation operation, List<Integer> groupRanks,
			String detail, long now, @Nullable Throwable cause) {
		List<Integer> worldRanks = groupRanks.stream().map(this.identity.members()::get).toList();
		return this.identity.exception(
				new Failure(kind, this.identity.name(), -1, null, worldRanks, detail,
						Duration.ofNanos(operation.elapsedNanos(now)), Duration.ofNanos(operation.timeoutNanos())),
				cause);
	}

}
