package io.tutti.engine.transport.message;

import org.jspecify.annotations.Nullable;

/**
 * What is under way with one other rank.
 */
final class Correspondent {

	/** Bytes of small sends whose callers have gone on, at most. */
	static final long MAX_KEPT_BYTES = 4 * 1024 * 1024;

	final int peer;

	final Outbox outbox;

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
