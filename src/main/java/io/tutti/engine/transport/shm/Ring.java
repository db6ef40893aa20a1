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

	private final long writtenLine;

	private final long takenLine;

	private final long start;

	private final long capacity;

	/** Position of this side. */
	private long position;

	/** Last known position of the other side. */
	private long other;

	Ring(long address, long capacity) {
		this.writtenLine = address;
		this.takenLine = address + HostLayout.LINE_BYTES;
		this.start = address + 2 * HostLayout.LINE_BYTES;
		this.capacity = capacity;
	}

	/** Moves the writer to a multiple of a power of two. */
	void alignWriting(long bytes) {
		this.position = aligned(bytes);
	}

	/** Number of the wanted bytes that can be written contiguously. */
	long writable(long wanted) {
		long limit = Math.min(wanted, untilEnd());
		if (this.other + this.capacity - this.position < limit) {
			this.other = SharedWords.acquire(this.takenLine);
		}
		return Math.clamp(this.other + this.capacity - this.position, 0, limit);
	}

	long writeAddress() {
		return address();
	}

	/** Publishes written bytes to the reader. */
	void publish(long bytes) {
		this.position += bytes;
		SharedWords.release(this.writtenLine, this.position);
	}

	/**
	 * Copies as many bytes as possible at once into the ring and publishes them.
	 * @return the number of bytes, 0 if there is no room
	 */
	long put(long address, long bytes) {
		long count = writable(Math.min(bytes, PUBLISH_BYTES));
		if (count > 0) {
			NativeMemory.copy(address, writeAddress(), count);
			publish(count);
		}
		return count;
	}

	/** Moves the reader to a multiple of a power of two. */
	void alignReading(long bytes) {
		this.position = aligned(bytes);
	}

	/** Number of the wanted bytes that can be read contiguously in place. */
	long readable(long wanted) {
		long limit = Math.min(wanted, untilEnd());
		if (this.other - this.position < limit) {
			this.other = SharedWords.acquire(this.writtenLine);
		}
		return Math.clamp(this.other - this.position, 0, limit);
	}

	long readAddress() {
		return address();
	}

	/** Releases the space of read bytes to the writer. */
	void release(long bytes) {
		this.position += bytes;
		SharedWords.release(this.takenLine, this.position);
	}

	/**
	 * Copies as many bytes as possible at once out of the ring and releases their space.
	 * @return the number of bytes, 0 if there are none
	 */
	long take(long address, long bytes) {
		long count = readable(Math.min(bytes, PUBLISH_BYTES));
		if (count > 0) {
			NativeMemory.copy(readAddress(), address, count);
			release(count);
		}
		return count;
	}

	private long aligned(long bytes) {
		return (this.position + bytes - 1) & -bytes;
	}

	private long untilEnd() {
		return this.capacity - (this.position & this.capacity - 1);
	}

	private long address() {
		return this.start + (this.position & this.capacity - 1);
	}

}
