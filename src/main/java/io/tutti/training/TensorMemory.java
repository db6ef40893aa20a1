package io.tutti.training;

import java.lang.foreign.MemorySegment;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.LongArrayRef;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The one memory behind a tensor and a segment, seen from either side, without a copy.
 */
final class TensorMemory {

	private TensorMemory() {
	}

	/**
	 * The memory of a contiguous tensor in main memory. Valid while the tensor is.
	 */
	@SuppressWarnings("restricted") // the tensor's own size bounds the segment
	static MemorySegment of(Tensor tensor) {
		try (Pointer data = tensor.data_ptr()) {
			return MemorySegment.ofAddress(data.address()).reinterpret(tensor.numel() * tensor.element_size());
		}
	}

	/** Address of a tensor's first element. */
	static long address(Tensor tensor) {
		try (Pointer data = tensor.data_ptr()) {
			return data.address();
		}
	}

	/**
	 * A float32 tensor of another's shape over a segment, which must outlive it. Not a
	 * view of a larger tensor: autograd refuses to detach those.
	 */
	static Tensor shapedLike(Tensor other, MemorySegment segment) {
		try (LongArrayRef sizes = other.sizes()) {
			return torch.from_blob(new Address(segment.address()), sizes);
		}
	}

	/** A bare address, as JavaCPP wants it. */
	private static final class Address extends Pointer {

		Address(long address) {
			this.address = address;
		}

	}

}
