package io.tutti.engine.backend.mpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Objects;

import io.tutti.DataType;

/**
 * Converts a caller's buffer to a memory segment: a segment, an array, or a buffer of
 * {@code java.nio} from its position on.
 */
final class MpiBuffer {

	private static final long ALIGNMENT = 64;

	private MpiBuffer() {
	}

	/**
	 * The first {@code count} elements of a buffer.
	 * @throws NullPointerException if the buffer or the type is {@code null}
	 * @throws IllegalArgumentException if the object is not a buffer, has another element
	 * type or holds fewer elements
	 */
	static MemorySegment of(Object buffer, long count, DataType type) {
		Objects.requireNonNull(buffer, "buffer must not be null");
		Objects.requireNonNull(type, "type must not be null");
		if (count < 0) {
			throw new IllegalArgumentException("count must be at least 0, got " + count);
		}
		MemorySegment whole = segment(buffer, type);
		long bytes = Math.multiplyExact(count, (long) type.bytes());
		if (whole.byteSize() < bytes) {
			throw new IllegalArgumentException("the buffer holds " + whole.byteSize() / type.bytes() + " elements of "
					+ type + ", and " + count + " were asked for");
		}
		return whole.asSlice(0, bytes);
	}

	/** Copies a part of a buffer, so that an in-place call has two separate buffers. */
	static MemorySegment copy(MemorySegment part) {
		MemorySegment copy = Arena.ofAuto().allocate(part.byteSize(), ALIGNMENT);
		return copy.copyFrom(part);
	}

	private static MemorySegment segment(Object buffer, DataType type) {
		return switch (buffer) {
			case MemorySegment segment -> segment;
			case float[] values -> MemorySegment.ofArray(values(values, type, DataType.FLOAT32));
			case double[] values -> MemorySegment.ofArray(values(values, type, DataType.FLOAT64));
			case int[] values -> MemorySegment.ofArray(values(values, type, DataType.INT32));
			case long[] values -> MemorySegment.ofArray(values(values, type, DataType.INT64));
			case byte[] values -> MemorySegment.ofArray(values(values, type, DataType.INT8, DataType.UINT8));
			case short[] values -> MemorySegment.ofArray(values(values, type, DataType.FLOAT16, DataType.BFLOAT16));
			case Buffer values -> segment(values, type);
			default -> throw new IllegalArgumentException("a buffer must be a MemorySegment, an array of primitive "
					+ "values or a buffer of java.nio, got " + buffer.getClass().getName());
		};
	}

	private static <T> T values(T array, DataType type, DataType... fitting) {
		for (DataType fits : fitting) {
			if (fits == type) {
				return array;
			}
		}
		throw new IllegalArgumentException(
				"an array " + array.getClass().getSimpleName() + " does not hold elements of " + type);
	}

	private static MemorySegment segment(Buffer buffer, DataType type) {
		ByteOrder order = switch (buffer) {
			case ByteBuffer values -> (type.bytes() == 1) ? ByteOrder.nativeOrder() : values.order();
			case FloatBuffer values -> values(values, type, DataType.FLOAT32).order();
			case DoubleBuffer values -> values(values, type, DataType.FLOAT64).order();
			case IntBuffer values -> values(values, type, DataType.INT32).order();
			case LongBuffer values -> values(values, type, DataType.INT64).order();
			case ShortBuffer values -> values(values, type, DataType.FLOAT16, DataType.BFLOAT16).order();
			case CharBuffer _ -> throw new IllegalArgumentException("a buffer of characters holds no " + type);
		};
		if (order != ByteOrder.nativeOrder()) {
			throw new IllegalArgumentException("the buffer is " + order + ", and elements travel as the machine's "
					+ ByteOrder.nativeOrder() + ": call order(ByteOrder.nativeOrder()) on it");
		}
		return MemorySegment.ofBuffer(buffer);
	}

}
