package io.tutti.engine.algorithm;

import io.tutti.engine.transport.Link;

/**
 * A queue of bytes in the scratch memory: results that are to be sent on and are wanted
 * nowhere else. Positions count from the start of the call; what is between the sent and
 * the filled position is held.
 */
final class Window {

	private final Scratch scratch;

	private long filled;

	private long sent;

	Window(Scratch scratch) {
		this.scratch = scratch;
	}

	void clear() {
		this.filled = 0;
		this.sent = 0;
	}

	/** First position past what can be written before more is sent. */
	long limit(int elementBytes) {
		return this.sent - this.sent % elementBytes + this.scratch.bytes();
	}

	/** Address of a position. */
	long address(long position) {
		return this.scratch.address() + position % this.scratch.bytes();
	}

	/** Bytes from a position on whose addresses are one run. */
	long contiguous(long position) {
		return this.scratch.bytes() - position % this.scratch.bytes();
	}

	/** First position that is not ready to be sent. */
	long filled() {
		return this.filled;
	}

	/** What is before that position is ready to be sent. */
	void fill(long position) {
		this.filled = position;
	}

	/** Bytes that are ready to be sent. */
	long held() {
		return this.filled - this.sent;
	}

	/**
	 * Sends what is held.
	 * @return how many bytes the link took, at most that many
	 */
	long send(Link link, long bytes) {
		long taken = 0;
		while (taken < bytes && held() > 0) {
			long wanted = Math.min(Math.min(bytes - taken, held()), contiguous(this.sent));
			long count = link.send(address(this.sent), wanted);
			this.sent += count;
			taken += count;
			if (count < wanted) {
				return taken;
			}
		}
		return taken;
	}

}
