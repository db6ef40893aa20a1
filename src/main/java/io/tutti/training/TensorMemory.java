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
 * Views tensors as memory segments and segments as tensors, and copies their bytes. A
 * segment of GPU memory is only an address and a size; the host must not access it.
 */
final class TensorMemory {

	private TensorMemory() {
	}

	/**
	 * The memory of a contiguous tensor in main memory, valid as long as the tensor.
	 */
	@SuppressWarnings("restricted") // the tensor's own size bounds the segment
	static MemorySegment of(Tensor tensor) {
		return MemorySegment.ofAddress(address(tensor)).reinterpret(tensor.numel() * tensor.element_size());
	}

	/**
	 * Address of a tensor's first element; 0 for an empty tensor, which has no memory.
	 */
	static long address(Tensor tensor) {
		try (Pointer data = tensor.data_ptr()) {
			return (data != null) ? data.address() : 0;
		}
	}

	/**
	 * A tensor over a segment with another tensor's shape, type and device. The segment
	 * must outlive it. It is not a view of a larger tensor, since autograd refuses to
	 * detach views.
	 */
	static Tensor shapedLike(Tensor other, MemorySegment segment) {
		try (LongArrayRef sizes = other.sizes(); TensorOptions options = other.options()) {
			return torch.from_blob(new Address(segment.address()), sizes, options);
		}
	}

	/**
	 * A one-dimensional tensor over a whole segment with another tensor's type and
	 * device.
	 */
	static Tensor flat(MemorySegment segment, Tensor other) {
		try (TensorOptions options = other.options()) {
			return torch.from_blob(new Address(segment.address()),
					new long[] { segment.byteSize() / other.element_size() }, options);
		}
	}

	/** Sets a tensor to zero, on any device. Autograd must not track the tensor. */
	static void zero(Tensor tensor) {
		tensor.zero_();
	}

	/** A copy of a tensor's bytes in element order, from any device. */
	static byte[] bytes(Tensor tensor) {
		try (NoGradGuard _ = new NoGradGuard(); Tensor here = tensor.cpu(); Tensor values = here.contiguous()) {
			return of(values).toArray(ValueLayout.JAVA_BYTE);
		}
	}

	/** Replaces a tensor's values by bytes in element order. */
	static void replace(Tensor tensor, byte[] bytes) {
		try (NoGradGuard _ = new NoGradGuard(); Tensor here = tensor.cpu(); Tensor values = here.clone()) {
			of(values).copyFrom(MemorySegment.ofArray(bytes));
			tensor.copy_(values);
		}
	}

	/** A raw address as a JavaCPP pointer. */
	private static final class Address extends Pointer {

		Address(long address) {
			this.address = address;
		}

	}

}
