package io.tutti.engine.transport.shm;

import io.tutti.engine.spi.NativeMemory;

/**
 * A one-way byte ring from one rank to another. The writer counts the bytes written and
 * the reader the bytes released, each in its own line. Each side caches the other side's
 * counter and re-reads it only if the cached value is not enough. One object serves one
 * side.
 */
final class Ring {

	/**
	 * Bytes after which the counter is published, so that the other side can continue
	 * early.
	 */
	private static final long PUBLISH_BYTES = 32 << 10;

	/** Address of this side's counter. */
	private final long ownLine;

	private final long otherLine;

	private final long start;

	private final long capacity;

	/** Bytes that this side may be ahead of the other. */
	private final long ahead;

	/** Position of this side. */
	private long position;

	/** Last known position of the other side. */
	private long other;

	private Ring(long address, long ownLine, long otherLine, long capacity, long ahead) {
		this.ownLine = ownLine;
		this.otherLine = otherLine;
		this.start = address + 2 * HostLayout.LINE_BYTES;
		this.capacity = capacity;
		this.ahead = ahead;
	}

	/** The writer of the ring at an address, which may be a whole ring ahead. */
	static Ring writer(long address, long capacity) {
		return new Ring(address, address, address + HostLayout.LINE_BYTES, capacity, capacity);
	}

	/** The reader of the ring at an address. */
	static Ring reader(long address, long capacity) {
		return new Ring(address, address + HostLayout.LINE_BYTES, address, capacity, 0);
	}

	/** Moves this side to a multiple of a power of two. */
	void align(long bytes) {
		this.position = (this.position + bytes - 1) & -bytes;
	}

	/** Number of the wanted bytes that can be written, or read, contiguously in place. */
	long available(long wanted) {
		long limit = Math.min(wanted, untilEnd());
		if (this.other + this.ahead - this.position < limit) {
			this.other = SharedWords.acquire(this.otherLine);
		}
		return Math.clamp(this.other + this.ahead - this.position, 0, limit);
	}

	/** Address of the available bytes. */
	long address() {
		return this.start + (this.position & this.capacity - 1);
	}

	/** Passes written bytes to the reader, or the space of read bytes to the writer. */
	void advance(long bytes) {
		this.position += bytes;
		SharedWords.release(this.ownLine, this.position);
	}

	/**
	 * Copies as many bytes as possible at once into the ring and publishes them.
	 * @return the number of bytes, 0 if there is no room
	 */
	long put(long address, long bytes) {
		long count = available(Math.min(bytes, PUBLISH_BYTES));
		if (count > 0) {
			NativeMemory.copy(address, address(), count);
			advance(count);
		}
		return count;
	}

	/**
	 * Copies as many bytes as possible at once out of the ring and releases their space.
	 * @return the number of bytes, 0 if there are none
	 */
	long take(long address, long bytes) {
		long count = available(Math.min(bytes, PUBLISH_BYTES));
		if (count > 0) {
			NativeMemory.copy(address(), address, count);
			advance(count);
		}
		return count;
	}

	private long untilEnd() {
		return this.capacity - (this.position & this.capacity - 1);
	}

}
