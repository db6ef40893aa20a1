package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A tensor and its data.
 *
 * @param header name, element type and shape
 * @param data the elements in row-major order and little-endian
 */
record StoredTensor(TensorHeader header, MemorySegment data) {

	StoredTensor {
		if (data.byteSize() != header.bytes()) {
			throw new IllegalArgumentException("tensor " + header.name() + " holds " + data.byteSize() + " bytes, but "
					+ header.describe() + " needs " + header.bytes());
		}
	}

	/** This tensor with its data in native memory, copied to the arena if necessary. */
	StoredTensor inNative(Arena arena) {
		return this.data.isNative() ? this
				: new StoredTensor(this.header, arena.allocate(this.data.byteSize(), Long.BYTES).copyFrom(this.data));
	}

}
