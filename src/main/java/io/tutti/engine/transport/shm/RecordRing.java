package io.tutti.engine.transport.shm;

import java.io.IOException;

import io.tutti.engine.spi.NativeMemory;

/**
 * A one-way byte ring from one rank to another that publishes bytes as records: a word
 * with the record's length, then its bytes. A reader that waits polls the word of the
 * next record, so a small record costs one transfer of a cache line between the cores,
 * not one for a counter and one for the bytes. Records begin at multiples of
 * {@value #ALIGNMENT} bytes, a cache line. The writer clears the word behind a record
 * before it publishes the record; a word with a length is therefore always new. The
 * reader counts the bytes that it has released. One object serves one side.
 */
final class RecordRing {

	/** Records begin at multiples of it, and so does the word that is polled. */
	private static final long ALIGNMENT = 64;

	/**
	 * Up to this size the bytes follow the word at once, in four lines; larger ones begin
	 * at the next line, since copies of whole lines are faster.
	 */
	private static final long SMALL_BYTES = 4 * ALIGNMENT - Long.BYTES;

	/** Largest record, so that the other side can continue early. */
	private static final long MAX_RECORD_BYTES = 32 << 10;

	/** Address of the reader's counter of released bytes. */
	private final long released;

	private final long start;

	private final long capacity;

	/** Position of the record that is written or read next. */
	private long position;

	/** Writer: last known count of released bytes. */
	private long seenReleased;

	/** Reader: length of the record, 0 if it has not arrived. */
	private long length;

	/** Reader: bytes of the record that were taken. */
	private long taken;

	/**
	 * One side of the ring at an address.
	 * @param capacity a power of two, at least 4 KiB
	 */
	RecordRing(long address, long capacity) {
		this.released = address;
		this.start = address + HostLayout.LINE_BYTES;
		this.capacity = capacity;
	}

	/** Whether a record can be written. */
	boolean hasRoom() {
		return room(1) > 0;
	}

	/**
	 * Writes one record with as many bytes as there is room for.
	 * @return the number of bytes, 0 if there is no room
	 */
	long put(long address, long bytes) {
		long count = room(Math.min(bytes, MAX_RECORD_BYTES));
		if (count <= 0) {
			return 0;
		}
		long record = addressOf(this.position);
		this.position += size(count);
		NativeMemory.copy(address, record + offset(count), count);
		NativeMemory.putLong(addressOf(this.position), 0);
		SharedWords.release(record, count);
		return count;
	}

	/**
	 * How many of the bytes the next record can hold: it neither wraps around nor covers
	 * the word behind it.
	 */
	private long room(long bytes) {
		if (free() < Math.min(size(bytes), untilEnd())) {
			this.seenReleased = SharedWords.acquire(this.released);
		}
		long space = Math.min(free(), untilEnd());
		return Math.min(bytes, (space > SMALL_BYTES + Long.BYTES) ? space - ALIGNMENT : space - Long.BYTES);
	}

	/** Bytes for records, besides the word behind them. */
	private long free() {
		return this.seenReleased + this.capacity - this.position - ALIGNMENT;
	}

	/** Whether a record has arrived. */
	boolean hasData() {
		if (this.length == 0) {
			this.length = SharedWords.acquire(addressOf(this.position));
		}
		return this.length != 0;
	}

	/**
	 * Copies as many bytes as possible out of one record, and releases its space once all
	 * are copied.
	 * @return the number of bytes, 0 if no record has arrived
	 * @throws IOException if no writer can have written the record
	 */
	long take(long address, long bytes) throws IOException {
		if (!hasData()) {
			return 0;
		}
		if (this.length < 0 || this.length > MAX_RECORD_BYTES || size(this.length) > untilEnd()) {
			throw new IOException("the memory of the stream is damaged: a record of " + this.length + " bytes");
		}
		long count = Math.min(bytes, this.length - this.taken);
		NativeMemory.copy(addressOf(this.position) + offset(this.length) + this.taken, address, count);
		this.taken += count;
		if (this.taken == this.length) {
			this.position += size(this.length);
			this.taken = 0;
			this.length = 0;
			SharedWords.release(this.released, this.position);
		}
		return count;
	}

	private long untilEnd() {
		return this.capacity - (this.position & this.capacity - 1);
	}

	private long addressOf(long position) {
		return this.start + (position & this.capacity - 1);
	}

	/** Where the bytes of a record begin in it. */
	private static long offset(long bytes) {
		return (bytes <= SMALL_BYTES) ? Long.BYTES : ALIGNMENT;
	}

	/** Bytes of a record with its word, in whole lines. */
	private static long size(long bytes) {
		return (offset(bytes) + bytes + ALIGNMENT - 1) & -ALIGNMENT;
	}

}
