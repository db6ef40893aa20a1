package io.tutti.engine.algorithm;

import io.tutti.engine.transport.Link;

/**
 * A circular queue of result bytes in the scratch memory, which wait to be sent and are
 * needed nowhere else. Positions count from the start of the call. The queue holds the
 * bytes between the sent and the filled position.
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

	/** End of the range that can be written before more bytes are sent. */
	long limit(int elementBytes) {
		return this.sent - this.sent % elementBytes + this.scratch.bytes();
	}

	/** Address of a position. */
	long address(long position) {
		return this.scratch.address() + position % this.scratch.bytes();
	}

	/** Number of contiguous bytes from a position on. */
	long contiguous(long position) {
		return this.scratch.bytes() - position % this.scratch.bytes();
	}

	/** End of the bytes that are ready to be sent. */
	long filled() {
		return this.filled;
	}

	/** Marks the bytes before a position as ready to be sent. */
	void fill(long position) {
		this.filled = position;
	}

	/** Number of bytes that are ready to be sent. */
	long held() {
		return this.filled - this.sent;
	}

	/**
	 * Sends bytes that are ready.
	 * @return number of bytes that the link accepted, at most {@code bytes}
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
