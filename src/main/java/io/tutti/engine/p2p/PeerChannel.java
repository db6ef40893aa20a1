package io.tutti.engine.p2p;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What is under way with one other rank.
 */
final class PeerChannel {

	/**
	 * The end of what can be exchanged with a rank.
	 *
	 * @param why what was seen
	 * @param peerAtFault whether the peer is gone; otherwise this rank cannot reach it
	 */
	record Loss(String why, boolean peerAtFault) {
	}

	/** Bytes of small sends whose callers have gone on, at most. */
	static final long MAX_KEPT_BYTES = 4 * 1024 * 1024;

	final int peer;

	final SendQueue outbox;

	/** One for each connection: there are two where both ranks made one at once. */
	final List<FrameReader> inboxes = new ArrayList<>(1);

	boolean dialing;

	long keptBytes;

	/** Why no more comes from there or goes there. */
	@Nullable Loss lost;

	private long announcements;

	/** Sends that wait to be pulled. */
	private final PendingTransfers announced = new PendingTransfers();

	/** Receives that wait for bytes they have pulled. */
	private final PendingTransfers pulled = new PendingTransfers();

	PeerChannel(int peer, SendQueue outbox) {
		this.peer = peer;
		this.outbox = outbox;
	}

	/** Whether something has come that there is no room for. */
	boolean halted() {
		for (int i = 0; i < this.inboxes.size(); i++) {
			if (this.inboxes.get(i).halted()) {
				return true;
			}
		}
		return false;
	}

	/** How many bytes of an operation have come or left, while they do. */
	long movedBytes(Operation operation) {
		if (operation.sends) {
			return this.outbox.movedBytes(operation);
		}
		long moved = 0;
		for (int i = 0; i < this.inboxes.size(); i++) {
			moved += this.inboxes.get(i).movedBytes(operation);
		}
		return moved;
	}

	/** A send waits to be pulled, under a number that it gets here. */
	void announce(Operation send) {
		this.announced.add(send, this.announcements++);
	}

	/** The send that was announced under a number; it is taken out. */
	@Nullable Operation announced(long id) {
		return this.announced.take(id);
	}

	/** A receive waits for the bytes that the peer announced under a number. */
	void pull(Operation receive, long id) {
		this.pulled.add(receive, id);
	}

	/** The receive that has pulled a number; it is taken out. */
	@Nullable Operation pulled(long id) {
		return this.pulled.take(id);
	}

}
