package io.tutti.engine.transport.message;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What is under way with one other rank.
 */
final class Correspondent {

	/** Bytes of small sends whose callers have gone on, at most. */
	static final long MAX_KEPT_BYTES = 4 * 1024 * 1024;

	final int peer;

	final Outbox outbox;

	/** One for each connection: there are two where both ranks made one at once. */
	final List<Inbox> inboxes = new ArrayList<>(1);

	boolean dialing;

	long keptBytes;

	/** Why no more comes from there or goes there. */
	@Nullable String lost;

	private long announcements;

	/** Sends that wait to be pulled. */
	private @Nullable Operation announced;

	/** Receives that wait for bytes they have pulled. */
	private @Nullable Operation pulled;

	Correspondent(int peer, Outbox outbox) {
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

	void announce(Operation send) {
		send.id = this.announcements++;
		send.next = this.announced;
		this.announced = send;
	}

	/** The send that was announced under a number; it is taken out. */
	@Nullable Operation announced(long id) {
		Operation before = null;
		for (Operation send = this.announced; send != null; send = send.next) {
			if (send.id == id) {
				if (before == null) {
					this.announced = send.next;
				}
				else {
					before.next = send.next;
				}
				send.next = null;
				return send;
			}
			before = send;
		}
		return null;
	}

	void pull(Operation receive, long id) {
		receive.id = id;
		receive.next = this.pulled;
		this.pulled = receive;
	}

	/** The receive that has pulled a number; it is taken out. */
	@Nullable Operation pulled(long id) {
		Operation before = null;
		for (Operation receive = this.pulled; receive != null; receive = receive.next) {
			if (receive.id == id) {
				if (before == null) {
					this.pulled = receive.next;
				}
				else {
					before.next = receive.next;
				}
				receive.next = null;
				return receive;
			}
			before = receive;
		}
		return null;
	}

}
