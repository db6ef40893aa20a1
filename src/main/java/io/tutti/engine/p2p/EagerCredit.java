package io.tutti.engine.p2p;

import java.io.IOException;

/**
 * Flow control of the eager protocol with one peer. The receiver reserves memory for a
 * window of unexpected messages. The sender charges each eager message to the window and
 * announces a message by RTS where the rest of the window is too small for it. The
 * receiver returns the charge once the message is consumed: in the next frame to the
 * sender, or in a frame of its own once half of the window is due. The receiver can
 * therefore always accept the next frame.
 */
final class EagerCredit {

	/**
	 * Window before the receiver enlarges it: one small message of the largest size. It
	 * belongs to the connection, so no budget limits it.
	 */
	static final int INITIAL_BYTES = MessageOperation.SMALL_BYTES;

	/**
	 * Largest window: more than a connection delivers during the time that a credit takes
	 * to return.
	 */
	static final int LARGEST_BYTES = 1 << 20;

	/** Credit for the messages that this rank may still send. */
	private long available = INITIAL_BYTES;

	/** The window that this rank has granted to the peer. */
	private int window = INITIAL_BYTES;

	/** The part of the window that is consumed and not returned yet. */
	private int due;

	/** The part of the window that messages of the peer occupy. */
	private long occupied;

	private boolean enlarged;

	/** Charges a message to the window, if it fits. */
	boolean take(long bytes) {
		long charge = BufferPool.chargeOf(bytes);
		if (charge > this.available) {
			return false;
		}
		this.available -= charge;
		return true;
	}

	/** A message that was charged is not sent. */
	void giveBack(long bytes) {
		this.available += BufferPool.chargeOf(bytes);
	}

	/** The peer returns credit, or enlarges the window. */
	void returned(int credit) {
		this.available += credit;
	}

	/** Whether {@link #enlarge} has not been called yet. */
	boolean enlargeable() {
		return !this.enlarged;
	}

	/** Enlarges the peer's window by reserved memory, once; 0 if there is none. */
	void enlarge(int bytes) {
		this.enlarged = true;
		this.window += bytes;
		this.due += bytes;
	}

	/**
	 * A message of the peer arrives.
	 * @throws IOException if the peer exceeds its window, which no sound peer does
	 */
	void arrived(long bytes) throws IOException {
		this.occupied += BufferPool.chargeOf(bytes);
		if (this.occupied > this.window) {
			throw new IOException("the stream is out of sync: messages beyond the window of " + this.window + " bytes");
		}
	}

	/** A message of the peer takes no more of the window. */
	void consumed(long bytes) {
		long charge = BufferPool.chargeOf(bytes);
		this.occupied -= charge;
		this.due += (int) charge;
	}

	/** Whether to return the credit without waiting for another frame. */
	boolean mustReturn() {
		return this.due >= this.window / 2;
	}

	/** The credit to return in a frame that is being written. */
	int takeDue() {
		int credit = this.due;
		this.due = 0;
		return credit;
	}

}
