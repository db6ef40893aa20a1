package io.tutti.engine.transport.shm;

import io.tutti.engine.spi.NativeMemory;

/**
 * Bytes one way from one rank to another. The writer counts what it has written, the
 * reader what it needs no more, each in a line of its own; each remembers what it last
 * saw of the other and looks again only when that does not suffice. One object serves one
 * side.
 */
final class Ring {

	/** After so many bytes the other side is told, so that it need not wait for all. */
	private static final long PUBLISH_BYTES = 32 << 10;

	private final long writtenLine;

	private final long takenLine;

	private final long start;

	private final long capacity;

	/** Where this side stands. */
	private long position;

	/** Where the other side was last seen. */
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

	/** How many bytes can be written at once, of those wanted. */
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

	/** Lets the reader see bytes that were written. */
	void publish(long bytes) {
		this.position += bytes;
		SharedWords.release(this.writtenLine, this.position);
	}

	/**
	 * Copies bytes into the ring, as many as go at once, and publishes them.
	 * @return how many, 0 if there is no room
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

	/** How many bytes can be read in place, of those wanted. */
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

	/** Lets the writer have the room of bytes that were read. */
	void release(long bytes) {
		this.position += bytes;
		SharedWords.release(this.takenLine, this.position);
	}

	/**
	 * Copies bytes out of the ring, as many as go at once, and gives their room back.
	 * @return how many, 0 if none have come
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
