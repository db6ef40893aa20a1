package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.LongArrayRef;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;

/**
 * The one memory behind a tensor and a segment, seen from either side, without a copy.
 * Where it is a GPU's, the segment is an address and a size and nothing to be read.
 */
final class TensorMemory {

	private TensorMemory() {
	}

	/**
	 * The memory of a contiguous tensor in main memory. Valid while the tensor is.
	 */
	@SuppressWarnings("restricted") // the tensor's own size bounds the segment
	static MemorySegment of(Tensor tensor) {
		return MemorySegment.ofAddress(address(tensor)).reinterpret(tensor.numel() * tensor.element_size());
	}

	/** Address of a tensor's first element; 0 where it has none, and so no memory. */
	static long address(Tensor tensor) {
		try (Pointer data = tensor.data_ptr()) {
			return (data != null) ? data.address() : 0;
		}
	}

	/**
	 * A tensor of another's shape, type and device over a segment, which must outlive it.
	 * Not a view of a larger tensor: autograd refuses to detach those.
	 */
	static Tensor shapedLike(Tensor other, MemorySegment segment) {
		try (LongArrayRef sizes = other.sizes(); TensorOptions options = other.options()) {
			return torch.from_blob(new Address(segment.address()), sizes, options);
		}
	}

	/** A tensor of one dimension over a whole segment, of another's type and device. */
	static Tensor flat(MemorySegment segment, Tensor other) {
		try (TensorOptions options = other.options()) {
			return torch.from_blob(new Address(segment.address()),
					new long[] { segment.byteSize() / other.element_size() }, options);
		}
	}

	/** Sets a tensor that autograd does not follow to zero, wherever it is. */
	static void zero(Tensor tensor) {
		tensor.zero_();
	}

	/** A tensor's bytes, in the order of its elements, wherever it is. */
	static byte[] bytes(Tensor tensor) {
		try (NoGradGuard _ = new NoGradGuard(); Tensor here = tensor.cpu(); Tensor values = here.contiguous()) {
			return of(values).toArray(ValueLayout.JAVA_BYTE);
		}
	}

	/** Replaces a tensor's values by bytes in the order of its elements. */
	static void replace(Tensor tensor, byte[] bytes) {
		try (NoGradGuard _ = new NoGradGuard(); Tensor here = tensor.cpu(); Tensor values = here.clone()) {
			of(values).copyFrom(MemorySegment.ofArray(bytes));
			tensor.copy_(values);
		}
	}

	/** A bare address, as JavaCPP wants it. */
	private static final class Address extends Pointer {

		Address(long address) {
			this.address = address;
		}

	}

}
