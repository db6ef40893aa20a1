package io.tutti.engine.p2p;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * Everything of one group's messages that is under way on this rank: starts sends and
 * receives and moves them on. Not thread safe: whoever holds the group's lock for
 * messages may call it.
 */
final class Postroom {

	private final int rank;

	private final MatchingEngine matching = new MatchingEngine();

	private final InFlightOperations open;

	private final BufferPool shelves;

	private final PeerChannels delivery;

	private final MatchCompletion handover;

	private final FrameDispatcher sorting;

	private final Function<Throwable, RuntimeException> broken;

	/**
	 * @param unexpected what this rank keeps of messages that nobody has asked for
	 * @param finished hears of each operation that is done
	 * @param broken the failure of all operations after an error of this rank's own
	 */
	Postroom(int rank, int worldSize, Connections wires, UnexpectedMessageBudget unexpected,
			Consumer<Operation> finished, Function<Throwable, RuntimeException> broken) {
		this.rank = rank;
		this.broken = broken;
		this.open = new InFlightOperations(finished);
		this.shelves = new BufferPool(unexpected);
		this.delivery = new PeerChannels(worldSize, wires, this.shelves, this.open);
		this.handover = new MatchCompletion(this.open, this.delivery);
		this.sorting = new FrameDispatcher(this.matching, this.shelves, this.open, this.delivery, this.handover);
	}

	/** What has begun and is not done; not to be changed. */
	List<Operation> open() {
		return this.open.all();
	}

	/** Whether letters wait for the network to take them. */
	boolean hasLetters() {
		return this.delivery.hasLetters();
	}

	/** The ranks for which sends are queued, as a diagnostic. */
	String queuedPeers(List<Integer> worldRanks) {
		return this.delivery.known()
			.stream()
			.filter((peer) -> !peer.outbox.isEmpty())
			.map((peer) -> "rank " + worldRanks.get(peer.peer))
			.collect(Collectors.joining(", "));
	}

	/** Why nothing more can come from or go to an operation's peer. */
	PeerChannel.@Nullable Loss lost(Operation operation) {
		PeerChannel peer = (operation.peer >= 0) ? this.delivery.known(operation.peer) : null;
		return (peer != null) ? peer.lost : null;
	}

	/** How many bytes of an operation have come or left, while they do. */
	long movedBytes(Operation operation) {
		if (operation.peer >= 0) {
			PeerChannel peer = this.delivery.known(operation.peer);
			return (peer != null) ? peer.movedBytes(operation) : 0;
		}
		long moved = 0;
		for (PeerChannel peer : this.delivery.known()) {
			moved += peer.movedBytes(operation);
		}
		return moved;
	}

	/**
	 * Whether something may still come over a connection that a rank has made or taken.
	 */
	boolean connected(int peer) {
		PeerChannel known = this.delivery.known(peer);
		return known != null && !known.inboxes.isEmpty();
	}

	/** What, if anything, an operation may be waiting for on this side. */
	String hindrance(Operation operation) {
		for (PeerChannel peer : this.delivery.known()) {
			if (peer.halted() && (operation.peer < 0 || operation.peer == peer.peer)) {
				return "; messages that nobody has received fill the " + this.shelves.unexpectedLimit()
						+ " bytes that this rank keeps of them, so nothing more is read from rank " + peer.peer
						+ " before some are received";
			}
		}
		return "";
	}

	/**
	 * Begins an operation and carries it as far as it goes at once; after the end it
	 * fails.
	 */
	void start(Operation operation) {
		if (!this.open.add(operation)) {
			return;
		}
		try {
			carry(operation);
		}
		catch (RuntimeException | Error ex) {
			end(this.broken.apply(ex));
		}
	}

	private void carry(Operation operation) {
		if (!operation.sends) {
			receive(operation);
		}
		else if (operation.peer == this.rank) {
			sendToItself(operation);
		}
		else {
			send(operation);
		}
	}

	private void send(Operation send) {
		PeerChannel peer = this.delivery.correspondent(send.peer);
		if (send.bytes > Operation.EAGER_BYTES) {
			peer.announce(send);
			this.delivery.post(peer, Frame.ANNOUNCE, send.type, send.bytes, send.tag, send.id);
			return;
		}
		SendDescriptor letter = this.delivery.letter(Frame.EAGER, send.type, send.bytes, send.tag, 0);
		letter.heap = send.heap;
		letter.address = send.address;
		letter.body = send.bytes;
		letter.operation = send;
		this.delivery.post(peer, letter);
		if (!send.done && this.delivery.keep(peer, letter)) {
			this.open.finish(send);
		}
	}

	private void sendToItself(Operation send) {
		Operation receive = this.matching.receiveFor(this.rank, send.tag);
		if (receive != null) {
			this.handover.hand(receive, this.rank, send);
			this.open.finish(send);
			return;
		}
		UnexpectedMessage copy = (send.bytes <= Operation.EAGER_BYTES) ? this.shelves.takeUnexpected(send.bytes) : null;
		UnexpectedMessage parcel = (copy != null) ? copy : this.shelves.take(0);
		parcel.set(this.rank, send.tag, send.type, send.bytes);
		this.matching.add(parcel);
		if (copy != null) {
			BufferCopy.copy(send.heap, send.address, null, copy.address(), send.bytes);
			copy.whole = true;
			this.open.finish(send);
		}
		else {
			parcel.own = send;
		}
	}

	private void receive(Operation receive) {
		UnexpectedMessage parcel = this.matching.parcelFor(receive);
		if (parcel == null) {
			this.matching.add(receive);
			return;
		}
		Operation own = parcel.own;
		if (own != null && own.bufferClosed()) {
			own.failure = new IllegalStateException("the buffer of a " + own + " was closed before it was received");
			this.open.finish(own);
			this.shelves.giveBack(parcel);
			receive(receive);
			return;
		}
		if (own != null) {
			this.handover.hand(receive, this.rank, own);
			this.open.finish(own);
		}
		else if (parcel.announced) {
			this.handover.answer(receive, this.delivery.correspondent(parcel.source), parcel.tag, parcel.type,
					parcel.bytes, parcel.id);
		}
		else if (parcel.whole) {
			this.handover.hand(receive, parcel);
		}
		else {
			parcel.claimant = receive;
			return;
		}
		this.shelves.giveBack(parcel);
	}

	/**
	 * Moves on what is under way.
	 * @param first the rank to look at, or any negative number to look at all
	 * @return whether anything moved
	 */
	boolean progress(int first) {
		if (ended()) {
			return false;
		}
		try {
			return this.delivery.progress(first, this.sorting);
		}
		catch (RuntimeException | Error ex) {
			end(this.broken.apply(ex));
			return false;
		}
	}

	/** Fails everything; from now on no memory of a caller's is touched. */
	void end(RuntimeException why) {
		this.matching.clear();
		this.shelves.clear();
		this.delivery.end();
		this.open.failAll(why);
	}

	/** Whether {@link #end} was called. */
	boolean ended() {
		return this.open.ended();
	}

}
