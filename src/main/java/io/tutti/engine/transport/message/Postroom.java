package io.tutti.engine.transport.message;

import java.util.List;
import java.util.function.Consumer;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.transport.Wires;
import org.jspecify.annotations.Nullable;

/**
 * Everything of one group's messages that is under way on this rank: starts sends and
 * receives and moves them on. Not thread safe: whoever holds the group's lock for
 * messages may call it.
 */
final class Postroom {

	private final int rank;

	private final Matching matching = new Matching();

	private final OpenOperations open;

	private final ParcelShelves shelves;

	private final Delivery delivery;

	private final Handover handover;

	private final Sorting sorting;

	private boolean ended;

	/**
	 * @param unexpected what this rank keeps of messages that nobody has asked for
	 * @param finished hears of each operation that is done
	 */
	Postroom(int rank, int worldSize, Wires wires, UnexpectedBytes unexpected, Consumer<Operation> finished) {
		this.rank = rank;
		this.open = new OpenOperations(finished);
		this.shelves = new ParcelShelves(unexpected);
		this.delivery = new Delivery(worldSize, wires, this.shelves, this.open);
		this.handover = new Handover(this.open, this.delivery);
		this.sorting = new Sorting(this.matching, this.shelves, this.open, this.delivery, this.handover);
	}

	/** What has begun and is not done; not to be changed. */
	List<Operation> open() {
		return this.open.all();
	}

	/** Whether letters wait for the network to take them. */
	boolean hasLetters() {
		return this.delivery.hasLetters();
	}

	/** Why nothing more can come from or go to an operation's peer. */
	@Nullable String lost(Operation operation) {
		Correspondent peer = (operation.peer >= 0) ? this.delivery.known(operation.peer) : null;
		return (peer != null) ? peer.lost : null;
	}

	/** What, if anything, an operation may be waiting for on this side. */
	String hindrance(Operation operation) {
		for (Correspondent peer : this.delivery.known()) {
			if (peer.halted() && (operation.peer < 0 || operation.peer == peer.peer)) {
				return "; messages that nobody has received fill the " + this.shelves.unexpectedLimit()
						+ " bytes that this rank keeps of them, so nothing more is read from rank " + peer.peer
						+ " before some are received";
			}
		}
		return "";
	}

	/** Begins an operation and carries it as far as it goes at once. */
	void start(Operation operation) {
		this.open.add(operation);
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
		Correspondent peer = this.delivery.correspondent(send.peer);
		if (send.bytes > Operation.EAGER_BYTES) {
			peer.announce(send);
			this.delivery.post(peer, Frame.ANNOUNCE, send.type, send.bytes, send.tag, send.id);
			return;
		}
		Letter letter = this.delivery.letter(Frame.EAGER, send.type, send.bytes, send.tag, 0);
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
			this.handover.hand(receive, this.rank, send.tag, send.type, send.bytes, send.address);
			this.open.finish(send);
			return;
		}
		Parcel copy = (send.bytes <= Operation.EAGER_BYTES) ? this.shelves.takeUnexpected(send.bytes) : null;
		Parcel parcel = (copy != null) ? copy : this.shelves.take(0);
		parcel.set(this.rank, send.tag, send.type, send.bytes);
		this.matching.add(parcel);
		if (copy != null) {
			NativeMemory.copy(send.address, copy.address(), send.bytes);
			copy.whole = true;
			this.open.finish(send);
		}
		else {
			parcel.own = send;
		}
	}

	private void receive(Operation receive) {
		Parcel parcel = this.matching.parcelFor(receive);
		if (parcel == null) {
			this.matching.add(receive);
			return;
		}
		Operation own = parcel.own;
		if (own != null) {
			this.handover.hand(receive, this.rank, parcel.tag, parcel.type, parcel.bytes, own.address);
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
		return !this.ended && this.delivery.progress(first, this.sorting);
	}

	/** Fails everything; from now on no memory of a caller's is touched. */
	void end(RuntimeException why) {
		this.ended = true;
		this.matching.clear();
		this.shelves.clear();
		this.delivery.end();
		this.open.failAll(why);
	}

	/** Whether {@link #end} was called. */
	boolean ended() {
		return this.ended;
	}

}
