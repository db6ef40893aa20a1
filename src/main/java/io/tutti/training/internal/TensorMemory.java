package io.tutti.training.internal;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import io.tutti.DataType;
import io.tutti.engine.spi.Sha256;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorImpl;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;

/**
 * Views tensors as memory segments and segments as tensors, and copies their bytes. A
 * segment of GPU memory is only an address and a size; the host must not access it.
 */
public final class TensorMemory {

	private TensorMemory() {
	}

	/**
	 * The memory of a dense tensor, in the order of its strides, valid as long as the
	 * tensor.
	 */
	@SuppressWarnings("restricted") // the tensor's own size bounds the segment
	public static MemorySegment of(Tensor tensor) {
		return MemorySegment.ofAddress(address(tensor)).reinterpret(bytes(tensor.numel(), tensor));
	}

	/**
	 * Address of a tensor's first element; 0 for an empty tensor, which has no memory.
	 */
	public static long address(Tensor tensor) {
		try (Pointer data = tensor.data_ptr()) {
			return (data != null) ? data.address() : 0;
		}
	}

	/** Address behind the last element of a tensor that has elements. */
	public static long end(Tensor tensor) {
		long last = 0;
		for (int dimension = 0; dimension < tensor.dim(); dimension++) {
			last += (tensor.size(dimension) - 1) * tensor.stride(dimension);
		}
		return address(tensor) + bytes(last + 1, tensor);
	}

	/** Size of so many elements of a tensor's type. */
	private static long bytes(long elements, Tensor tensor) {
		return Math.multiplyExact(elements, tensor.element_size());
	}

	/** The collectives' name of a tensor's float type; empty for another type. */
	public static Optional<DataType> type(Tensor tensor) {
		return switch (tensor.scalar_type().intern()) {
			case Float -> Optional.of(DataType.FLOAT32);
			case Double -> Optional.of(DataType.FLOAT64);
			case Half -> Optional.of(DataType.FLOAT16);
			case BFloat16 -> Optional.of(DataType.BFLOAT16);
			default -> Optional.empty();
		};
	}

	/**
	 * A one-dimensional tensor over a whole segment with another tensor's type and
	 * device. The segment must outlive it.
	 */
	public static Tensor flat(MemorySegment segment, Tensor other) {
		try (TensorOptions options = other.options()) {
			return torch.from_blob(new Address(segment.address()),
					new long[] { segment.byteSize() / other.element_size() }, options);
		}
	}

	/** A one-dimensional view of a dense tensor, in the order of its memory. */
	public static Tensor flattened(Tensor dense) {
		return dense.as_strided(new long[] { dense.numel() }, 1);
	}

	/** Adds a tensor's bytes in element order, from any device, to a digest. */
	public static void update(MessageDigest digest, Tensor tensor) {
		try (NoGradGuard _ = new NoGradGuard(); Tensor values = values(tensor)) {
			Sha256.update(digest, of(values));
		}
	}

	/**
	 * A tensor's values in main memory and in row-major order: the tensor itself, if its
	 * memory holds them so, or else a copy. The caller closes the result.
	 */
	public static Tensor values(Tensor tensor) {
		try (Tensor here = tensor.cpu()) {
			return inElementOrder(here);
		}
	}

	/** A tensor's values on its device, as {@link #values}. */
	public static Tensor inElementOrder(Tensor tensor) {
		try (Tensor resolved = resolved(tensor)) {
			return resolved.contiguous();
		}
	}

	/**
	 * A tensor whose memory holds its values, with the same strides: the tensor itself or
	 * a copy. The memory of a conjugate or a negative holds those of another tensor,
	 * until libtorch needs its values.
	 */
	public static Tensor resolved(Tensor tensor) {
		try (Tensor conjugated = tensor.resolve_conj()) {
			return conjugated.resolve_neg();
		}
	}

	/**
	 * Records a write to a tensor's memory, as libtorch's in-place operations do: a
	 * backward pass that needs the values before it fails then.
	 */
	public static void recordWrite(Tensor tensor) {
		if (!tensor.is_inference()) {
			try (TensorImpl shared = tensor.unsafeGetTensorImpl()) {
				shared.bump_version();
			}
		}
	}

	/**
	 * Whether a tensor's memory holds its values, and not their conjugates or negatives.
	 */
	public static boolean holdsValues(Tensor tensor) {
		return !tensor.is_conj() && !tensor.is_neg();
	}

	/**
	 * Whether elements of a tensor share memory, as in an expanded tensor, or may do so.
	 * Each dimension of one without shared memory steps over all elements of those with
	 * smaller strides.
	 */
	public static boolean sharesElements(Tensor tensor) {
		if (tensor.numel() == 0) {
			return false;
		}
		long span = 1;
		List<Long> byStride = LongStream.range(0, tensor.dim())
			.boxed()
			.sorted(Comparator.comparing((dimension) -> tensor.stride(dimension)))
			.toList();
		for (long dimension : byStride) {
			long steps = tensor.size(dimension) - 1;
			if (steps > 0 && tensor.stride(dimension) < span) {
				return true;
			}
			span += steps * tensor.stride(dimension);
		}
		return false;
	}

	/** Shape of a tensor for messages, such as {@code 128x64}; empty for a scalar. */
	public static String shape(Tensor tensor) {
		return joined(tensor.shape());
	}

	/** Numbers with an x between them, as in a shape. */
	public static String joined(long[] numbers) {
		return Arrays.stream(numbers).mapToObj(Long::toString).collect(Collectors.joining("x"));
	}

	/** The strides of a tensor in elements, by dimension. */
	public static long[] strides(Tensor tensor) {
		return LongStream.range(0, tensor.dim()).map(tensor::stride).toArray();
	}

	/** The strides of a tensor of this shape whose elements are in row-major order. */
	public static long[] rowMajor(long[] shape) {
		long[] strides = new long[shape.length];
		long stride = 1;
		for (int dimension = shape.length - 1; dimension >= 0; dimension--) {
			strides[dimension] = stride;
			stride *= Math.max(1, shape[dimension]);
		}
		return strides;
	}

	/** The address of native memory as a JavaCPP pointer. */
	public static Pointer pointer(MemorySegment segment) {
		return new Address(segment.address());
	}

	/** A raw address as a JavaCPP pointer. */
	private static final class Address extends Pointer {

		Address(long address) {
			this.address = address;
		}

	}

}
