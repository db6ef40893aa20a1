package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;

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

	/**
	 * A tensor's header and its values in row-major order. The data is that of the tensor
	 * or of a copy that belongs to the surrounding {@code PointerScope}.
	 * @throws IllegalArgumentException if a file cannot hold the type of the elements
	 */
	static StoredTensor of(String name, Tensor tensor) {
		try (NoGradGuard _ = new NoGradGuard()) {
			return new StoredTensor(TensorHeader.of(name, tensor), TensorMemory.of(TensorMemory.values(tensor)));
		}
	}

	/** A tensor over the data, which must be native memory and outlive it. */
	Tensor view() {
		long[] shape = this.header.shape().stream().mapToLong(Long::longValue).toArray();
		try (TensorOptions options = new TensorOptions(this.header.type().scalarType())) {
			return torch.from_blob(TensorMemory.pointer(this.data), shape, options);
		}
	}

	/** This tensor with its data in native memory, copied to the arena if necessary. */
	StoredTensor inNative(Arena arena) {
		return this.data.isNative() ? this
				: new StoredTensor(this.header, arena.allocate(this.data.byteSize(), Long.BYTES).copyFrom(this.data));
	}

}
