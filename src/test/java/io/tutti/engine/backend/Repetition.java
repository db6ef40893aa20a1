package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.util.function.IntToLongFunction;

import io.tutti.DataType;

/**
 * A sequence of elements that repeats. Whole buffers are filled from it and compared with
 * it, since a test would spend most of its time on single elements.
 */
final class Repetition {

	private final DataType type;

	private final MemorySegment period;

	/**
	 * Creates the sequence.
	 * @param count elements after which it repeats
	 * @param value an element by index
	 */
	Repetition(DataType type, int count, IntToLongFunction value) {
		this.type = type;
		this.period = MemorySegment.ofArray(new byte[count * type.bytes()]);
		for (int i = 0; i < count; i++) {
			Elements.put(this.period, type, i, value.applyAsLong(i));
		}
	}

	/** An element. */
	long get(long index) {
		return Elements.get(this.period, this.type, index % (this.period.byteSize() / this.type.bytes()));
	}

	/** Fills a buffer with the elements from an index on. */
	void fill(MemorySegment buffer, long first) {
		for (long done = 0; done < buffer.byteSize();) {
			long offset = offset(first, done);
			long bytes = Math.min(this.period.byteSize() - offset, buffer.byteSize() - done);
			MemorySegment.copy(this.period, offset, buffer, done, bytes);
			done += bytes;
		}
	}

	/**
	 * Compares a buffer with the elements from an index on.
	 * @return the first element of the buffer that differs, -1 for none
	 */
	long mismatch(MemorySegment buffer, long first) {
		for (long done = 0; done < buffer.byteSize();) {
			long offset = offset(first, done);
			long bytes = Math.min(this.period.byteSize() - offset, buffer.byteSize() - done);
			long found = MemorySegment.mismatch(this.period, offset, offset + bytes, buffer, done, done + bytes);
			if (found >= 0) {
				return (done + found) / this.type.bytes();
			}
			done += bytes;
		}
		return -1;
	}

	private long offset(long first, long done) {
		return (first * this.type.bytes() + done) % this.period.byteSize();
	}

}
