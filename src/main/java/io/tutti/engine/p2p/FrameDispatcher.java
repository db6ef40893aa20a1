package io.tutti.engine.p2p;

import java.io.IOException;

import io.tutti.engine.DataType;
import org.jspecify.annotations.Nullable;

/**
 * Reads what comes from other ranks: brings it to the receive that waits for it, or puts
 * it aside as long as there is room.
 */
final class FrameDispatcher implements FrameReader.Reader {

	private final MatchingEngine matching;

	private final BufferPool shelves;

	private final InFlightOperations open;

	private final PeerChannels delivery;

	private final MatchCompletion handover;

	FrameDispatcher(MatchingEngine matching, BufferPool shelves, InFlightOperations open, PeerChannels delivery,
			MatchCompletion handover) {
		this.matching = matching;
		this.shelves = shelves;
		this.open = open;
		this.delivery = delivery;
		this.handover = handover;
	}

	@Override
	public boolean frame(FrameReader inbox, long frame) throws IOException {
		DataType type = typeOf(frame);
		long bytes = Frame.bytes(frame);
		int tag = Frame.tag(frame);
		long id = Frame.id(frame);
		PeerChannel peer = this.delivery.correspondent(inbox.peer());
		switch (Frame.kind(frame)) {
			case Frame.EAGER -> {
				return eager(inbox, type, bytes, tag);
			}
			case Frame.ANNOUNCE -> {
				return announced(peer, type, bytes, tag, id);
			}
			case Frame.PULL -> pulled(peer, id);
			case Frame.REFUSE -> this.open.finish(known(peer.announced(id), id));
			default -> data(inbox, known(peer.pulled(id), id), bytes);
		}
		return true;
	}

	private static DataType typeOf(long frame) throws IOException {
		try {
			return DataType.ofOrdinal(Frame.type(frame));
		}
		catch (IllegalArgumentException ex) {
			throw new IOException("the stream is out of step: " + ex.getMessage(), ex);
		}
	}

	private static Operation known(@Nullable Operation operation, long id) throws IOException {
		if (operation == null) {
			throw new IOException("the stream is out of step: no message goes by number " + id);
		}
		return operation;
	}

	private boolean eager(FrameReader inbox, DataType type, long bytes, int tag) {
		Operation receive = this.matching.receiveFor(inbox.peer(), tag);
		if (receive != null && receive.fits(type, bytes)) {
			receive.found(inbox.peer(), tag, bytes);
			inbox.expect(receive.address, bytes, receive, null);
			return true;
		}
		UnexpectedMessage parcel = (receive != null) ? this.shelves.take(bytes) : this.shelves.takeUnexpected(bytes);
		if (parcel == null) {
			return false;
		}
		parcel.set(inbox.peer(), tag, type, bytes);
		if (receive != null) {
			parcel.claimant = receive;
		}
		else {
			this.matching.add(parcel);
		}
		inbox.expect(parcel.address(), bytes, null, parcel);
		return true;
	}

	private boolean announced(PeerChannel peer, DataType type, long bytes, int tag, long id) {
		Operation receive = this.matching.receiveFor(peer.peer, tag);
		if (receive != null) {
			this.handover.answer(receive, peer, tag, type, bytes, id);
			return true;
		}
		UnexpectedMessage parcel = this.shelves.takeUnexpected(0);
		if (parcel == null) {
			return false;
		}
		parcel.set(peer.peer, tag, type, bytes);
		parcel.announced = true;
		parcel.id = id;
		this.matching.add(parcel);
		return true;
	}

	private void pulled(PeerChannel peer, long id) throws IOException {
		Operation send = known(peer.announced(id), id);
		SendDescriptor letter = this.delivery.letter(Frame.DATA, send.type, send.bytes, send.tag, id);
		letter.heap = send.heap;
		letter.address = send.address;
		letter.body = send.bytes;
		letter.operation = send;
		this.delivery.post(peer, letter);
	}

	private static void data(FrameReader inbox, Operation receive, long bytes) throws IOException {
		if (bytes != receive.foundBytes) {
			throw new IOException(
					"the stream is out of step: " + bytes + " bytes of a message of " + receive.foundBytes);
		}
		inbox.expect(receive.address, bytes, receive, null);
	}

	@Override
	public void body(FrameReader inbox) {
		Operation receive = inbox.operation;
		UnexpectedMessage parcel = inbox.parcel;
		inbox.operation = null;
		inbox.parcel = null;
		if (receive != null) {
			this.open.finish(receive);
		}
		if (parcel != null) {
			parcel.whole = true;
			Operation claimant = parcel.claimant;
			if (claimant != null) {
				this.handover.hand(claimant, parcel);
				this.shelves.giveBack(parcel);
			}
		}
	}

}
