package io.tutti.engine.transport.message;

import io.tutti.engine.DataType;
import io.tutti.engine.MessageMismatchException;
import io.tutti.engine.NativeMemory;

/**
 * Gives a receive the message that it has been matched with, if it fits.
 */
final class Handover {

	private final OpenOperations open;

	private final Delivery delivery;

	Handover(OpenOperations open, Delivery delivery) {
		this.open = open;
		this.delivery = delivery;
	}

	/** Gives a receive a message that is here. */
	void hand(Operation receive, int source, int tag, DataType type, long bytes, long address) {
		receive.found(source, tag, bytes);
		if (receive.fits(type, bytes)) {
			NativeMemory.copy(address, receive.address, bytes);
		}
		else {
			receive.failure = misfit(receive, source, tag, type, bytes);
		}
		this.open.finish(receive);
	}

	/** Gives a receive the whole message that a parcel holds. */
	void hand(Operation receive, Parcel parcel) {
		hand(receive, parcel.source, parcel.tag, parcel.type, parcel.bytes, parcel.address());
	}

	/** Pulls an announced message, or refuses it. */
	void answer(Operation receive, Correspondent peer, int tag, DataType type, long bytes, long id) {
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

	private static MessageMismatchException misfit(Operation receive, int source, int tag, DataType type, long bytes) {
		return new MessageMismatchException(source, tag, type, bytes, receive.type, receive.bytes);
	}

}
