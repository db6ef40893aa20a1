package io.tutti.engine.p2p;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.MessageMismatchException;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.WithdrawnMessageException;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether messages can still be delivered, and builds their failures.
 */
record MessageFailures(GroupIdentity identity, FailureLatch latch, ProgressEngine engine) {

	/** How long the connection of a rank may take to arrive that has left since. */
	private static final Duration ARRIVING = Duration.ofMillis(500);

	/** How long the announcement may take that a rank has left which has disconnected. */
	private static final Duration LEAVING = Duration.ofSeconds(5);

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
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			if (!operation.done()) {
				requirePeers(operation, now);
				operation.recordProgress(now);
				if (operation.remainingNanos(now) <= 0) {
					expire(operation, now);
				}
			}
		}
	}

	/**
	 * Checks that the peers of an operation are not lost and have not left the group.
	 * What they sent or answered before they left may still arrive: over a connection
	 * that has not ended, or, where there is none, over one that they made last.
	 */
	private void requirePeers(MessageOperation operation, long now) {
		requireDelivered(now);
		PeerChannel.Loss lost = this.engine.channels().lost(operation, now);
		if (lost != null) {
			throw lost(operation, operation.peer, lost, now);
		}
		if (operation.peer < 0) {
			requireSources(operation, now);
		}
		DepartedRanks departed = this.latch.departed();
		if (departed.isEmpty()) {
			return;
		}
		List<Integer> needed = (operation.peer >= 0) ? peersOf(operation) : this.identity.others();
		if (!needed.isEmpty() && needed.stream().allMatch((peer) -> hasLeft(operation, peer))) {
			throw failure(DepartedRanks.failureOf(this.identity.name()), operation, needed,
					own(operation) + ": " + departed.describe(this.identity.members().get(needed.getFirst())), now,
					null);
		}
	}

	/**
	 * Checks that no connection has ended alone over which a message from any rank may
	 * have been on its way.
	 */
	private void requireSources(MessageOperation operation, long now) {
		List<PeerChannel> peers = this.engine.channels().lost();
		for (int i = 0; i < peers.size(); i++) {
			PeerChannel peer = peers.get(i);
			PeerChannel.Loss lost = peer.connected() ? null : peer.lostFor(LEAVING, now);
			if (lost != null && lost.peerAtFault() && !mayHaveLeft(peer)) {
				throw lost(operation, peer.peer, lost, now);
			}
		}
	}

	/**
	 * Checks that no small send that has returned was lost with its connection. Requires
	 * the lock.
	 * @throws CollectiveException if one was, although its receiver has not left
	 */
	void requireDelivered(long now) {
		List<PeerChannel> peers = this.engine.channels().lost();
		for (int i = 0; i < peers.size(); i++) {
			PeerChannel peer = peers.get(i);
			PeerChannel.Loss lost = peer.undelivered() ? peer.lostFor(LEAVING, now) : null;
			if (lost != null && !mayHaveLeft(peer)) {
				int faulty = lost.peerAtFault() ? peer.peer : this.identity.rank();
				throw this.identity.exception(
						Failure
							.outside(kind(lost), this.identity.name(), List.of(this.identity.members().get(faulty)),
									"small sends of rank " + this.identity.worldRank() + " to rank "
											+ this.identity.members().get(peer.peer) + " are lost: " + lost.why()),
						null);
			}
		}
	}

	/** Whether a peer has left, or may have left unannounced. */
	boolean mayHaveLeft(PeerChannel peer) {
		return this.latch.departed().mayContain(this.identity.members().get(peer.peer));
	}

	/**
	 * Ends an operation alone at its deadline if no message has matched it. Whether the
	 * receiver of a send has matched it is unknown until it answers.
	 */
	private void expire(MessageOperation operation, long now) {
		if (operation.awaitsWithdrawal()
				&& operation.prolongWithdrawal(now, this.engine.channels().channel(operation.peer).moves())) {
			return;
		}
		boolean alone = operation.independent && operation.withdrawal == null
				&& this.engine.withdraw(operation, failure(Failure.Kind.TIMEOUT, operation, peersOf(operation),
						own(operation) + " matched no message and was withdrawn; the group stays usable", now, null));
		if (!alone) {
			String state = operation.awaitsWithdrawal()
					? " was to be withdrawn at its limit, but the receiver has not answered for "
							+ MessageOperation.WITHDRAWAL.toSeconds()
							+ " s: it may be stopped or overloaded, or still read a large message that it has matched"
					: " was not done" + operation.progress(now);
			throw failure(Failure.Kind.TIMEOUT, operation, peersOf(operation), own(operation) + state, now, null);
		}
	}

	private CollectiveException lost(MessageOperation operation, int peer, PeerChannel.Loss lost, long now) {
		return failure(kind(lost), operation, List.of(lost.peerAtFault() ? peer : this.identity.rank()),
				own(operation) + ": " + lost.why(), now, null);
	}

	private static Failure.Kind kind(PeerChannel.Loss lost) {
		return lost.peerAtFault() ? Failure.Kind.PEER_LOST : Failure.Kind.ABORTED;
	}

	/** What a rank has sent or answered before it left may still arrive. */
	private boolean hasLeft(MessageOperation operation, int peer) {
		int worldRank = this.identity.members().get(peer);
		if (operation.sends()) {
			return this.latch.departed().contains(worldRank) && (!this.engine.channels().awaitsAnswer(operation)
					|| this.latch.departed().isAbsentFor(worldRank, PeerChannel.ANSWERING));
		}
		return this.latch.departed().isAbsentFor(worldRank, ARRIVING) && !this.engine.channels().connected(peer);
	}

	/**
	 * Checks that a rank has not left, since a small message to it would be lost.
	 * @throws CollectiveException if it has left
	 */
	void requirePresent(int peer) {
		DepartedRanks departed = this.latch.departed();
		int worldRank = this.identity.members().get(peer);
		if (!departed.isEmpty() && departed.contains(worldRank)) {
			throw this.identity.exception(Failure.outside(DepartedRanks.failureOf(this.identity.name()),
					this.identity.name(), List.of(worldRank),
					"rank " + this.identity.worldRank() + " cannot send to it: " + departed.describe(worldRank)), null);
		}
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
	 * Maps the failure of an operation to the group's verdict, unless it has failed
	 * alone.
	 */
	RuntimeException verdict(MessageOperation operation, RuntimeException failure) {
		return (failure instanceof CollectiveException seen && !operation.withdrawn)
				? during(operation, this.latch.reportAndAwaitVerdict(seen), System.nanoTime()) : failure;
	}

	/** Breaks the group on every rank, also if no operation fails. */
	void report(CollectiveException seen) {
		this.latch.reportAndAwaitVerdict(seen);
	}

	/** Adds an operation to a failure that was detected elsewhere. */
	static CollectiveException during(MessageOperation operation, CollectiveException failure, long now) {
		return failure.during(operation.toString(), Duration.ofNanos(operation.elapsedNanos(now)));
	}

	/** An error on this rank: none of its messages can be delivered. */
	CollectiveException broken(Throwable cause) {
		return this.identity.exception(this.identity.aborted("this rank's message engine failed: " + cause), cause);
	}

	/**
	 * This rank closes the group while an operation is in flight, which breaks the group
	 * on every rank, unless this one leaves the job.
	 */
	void abandon(boolean leaving) {
		String reason = "this rank closed the group during a send or receive";
		if (leaving) {
			this.latch.trip(this.identity.aborted(reason));
		}
		else {
			this.latch.abort(reason);
		}
	}

	/**
	 * Whether messages or answers wait to be sent, or small sends were lost whose
	 * receiver may not have left.
	 */
	boolean hasUnsent() {
		return anyPeer((peer) -> peer.hasUnsent() || isMissing(peer));
	}

	/** As {@link #hasUnsent}, where the callers have returned. */
	boolean hasReturnedSends() {
		return anyPeer((peer) -> peer.hasReturnedSends() || isMissing(peer));
	}

	private boolean isMissing(PeerChannel peer) {
		return peer.undelivered() && !mayHaveLeft(peer);
	}

	private boolean anyPeer(Predicate<PeerChannel> what) {
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			return this.engine.channels().known().stream().anyMatch(what);
		}
	}

	/** Messages or answers are not sent when the group is closed. */
	CollectiveException unsent(Duration waited, boolean interrupted) {
		String ended = interrupted ? "the closing thread was interrupted after " + waited.toMillis() + " ms"
				: "tutti.timeout.drain passed after " + waited.toMillis() + " ms";
		return this.identity.exception(
				this.identity.aborted("rank " + this.identity.worldRank() + " closed the group with "
						+ (hasReturnedSends() ? "small sends to " : "messages or answers to ") + unsentPeers()
						+ " still queued, and " + ended
						+ ": the messages are lost; receive them before the group is closed"),
				interrupted ? new InterruptedException() : null);
	}

	private String unsentPeers() {
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			return this.engine.channels()
				.known()
				.stream()
				.filter((peer) -> peer.hasUnsent() || isMissing(peer))
				.map((peer) -> "rank " + this.identity.members().get(peer.peer))
				.collect(Collectors.joining(", "));
		}
	}

	/** A message does not fit the receive that it has matched. */
	RuntimeException misfit(MessageOperation receive, DataType type) {
		int source = receive.source;
		int sender = this.identity.members().get(source);
		int tag = receive.foundTag;
		long bytes = receive.foundBytes;
		if (receive.bufferClosed()) {
			return GroupStateException.bufferClosed(this.identity, source,
					"the buffer was closed before a message from rank " + sender + " with tag " + tag + " (" + bytes
							+ " bytes of " + type + ") arrived, which is dropped: keep its arena open,"
							+ " or do not free it, until the call returns or its work is done");
		}
		return new MessageMismatchException(source, tag, type, bytes,
				new MessageMismatchException.Receive(this.identity.worldRank(), this.identity.jobSize(),
						this.identity.name(), sender, receive.type, receive.bytes));
	}

	/** The buffer of a send to this rank itself is closed before a receive matches it. */
	RuntimeException closedBuffer(MessageOperation send) {
		return GroupStateException.bufferClosed(this.identity, send.peer,
				"the buffer of a " + send + " was closed before the message was received");
	}

	/** An operation was cancelled before a message has matched it. */
	RuntimeException withdrawn(MessageOperation operation) {
		return new WithdrawnMessageException(this.identity, operation.peer, operation.toString());
	}

	/** The failure of operations in a closed group. */
	CollectiveException closed() {
		Failure failure = this.latch.failure();
		return this.identity
			.exception((failure != null) ? failure : this.identity.aborted("this rank closed the group"), null);
	}

	/** Names this rank, since every rank throws it. */
	private String own(MessageOperation operation) {
		return "rank " + this.identity.worldRank() + "'s " + operation;
	}

	private static List<Integer> peersOf(MessageOperation operation) {
		return (operation.peer >= 0) ? List.of(operation.peer) : List.of();
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
