package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;

import io.tutti.engine.DataType;
import io.tutti.engine.MessageMismatchException;
import org.jspecify.annotations.Nullable;

/**
 * Gives a receive the message that it has been matched with, if it fits.
 */
final class MatchCompletion {

	private final InFlightOperations open;

	private final PeerChannels delivery;

	MatchCompletion(InFlightOperations open, PeerChannels delivery) {
		this.open = open;
		this.delivery = delivery;
	}

	/** Gives a receive the message of a send to this rank itself. */
	void hand(Operation receive, int source, Operation send) {
		hand(receive, source, send.tag, send.type, send.bytes, send.heap, send.address);
	}

	private void hand(Operation receive, int source, int tag, DataType type, long bytes, @Nullable MemorySegment heap,
			long address) {
		receive.found(source, tag, bytes);
		if (receive.fits(type, bytes)) {
			BufferCopy.copy(heap, address, receive.heap, receive.address, bytes);
		}
		else {
			receive.failure = misfit(receive, source, tag, type, bytes);
		}
		this.open.finish(receive);
	}

	/** Gives a receive the whole message that a parcel holds. */
	void hand(Operation receive, UnexpectedMessage parcel) {
		hand(receive, parcel.source, parcel.tag, parcel.type, parcel.bytes, null, parcel.address());
	}

	/** Pulls an announced message, or refuses it. */
	void answer(Operation receive, PeerChannel peer, int tag, DataType type, long bytes, long id) {
		receive.found(peer.peer, tag, bytes);
		if (receive.fits(type, bytes)) {
			peer.pull(receive, id);
			this.delivery.post(peer, Frame.PULL, type, bytes, tag, id);
			return;
		}
		receive.failure = misfit(receive, peer.peer, tag, type, bytes);
		this.delivery.post(peer, Frame.REFUSE, type, bytes, tag, id);
		this.open.finish(receive);
	}

	private static RuntimeException misfit(Operation receive, int source, int tag, DataType type, long bytes) {
		if (receive.bufferClosed()) {
			return new IllegalStateException("the buffer was closed before a message from rank " + source + " with tag "
					+ tag + " (" + bytes + " bytes of " + type + ") came, which is dropped: keep the "
					+ "arena open until the call returns or its future is done");
		}
		return new MessageMismatchException(source, tag, type, bytes, receive.type, receive.bytes);
	}

}
