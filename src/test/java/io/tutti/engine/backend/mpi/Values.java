package io.tutti.engine.backend.mpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntToDoubleFunction;

import io.tutti.DataType;

/**
 * Reads and writes single elements of every type.
 */
final class Values {

	private Values() {
	}

	/** A native buffer with {@code count} elements. */
	static MemorySegment of(DataType type, int count, IntToDoubleFunction value) {
		MemorySegment memory = Arena.ofAuto().allocate((long) count * type.bytes(), 64);
		for (int i = 0; i < count; i++) {
			set(memory, type, i, value.applyAsDouble(i));
		}
		return memory;
	}

	static void set(MemorySegment memory, DataType type, long i, double value) {
		switch (type) {
			case FLOAT32 -> memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) value);
			case FLOAT64 -> memory.setAtIndex(ValueLayout.JAVA_DOUBLE, i, value);
			case FLOAT16 -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16((float) value));
			case BFLOAT16 -> memory.setAtIndex(ValueLayout.JAVA_SHORT, i, bfloat16((float) value));
			case INT8, UINT8 -> memory.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) value);
			case INT32 -> memory.setAtIndex(ValueLayout.JAVA_INT, i, (int) value);
			case INT64 -> memory.setAtIndex(ValueLayout.JAVA_LONG, i, (long) value);
		}
	}

	static double get(MemorySegment memory, DataType type, long i) {
		return switch (type) {
			case FLOAT32 -> memory.getAtIndex(ValueLayout.JAVA_FLOAT, i);
			case FLOAT64 -> memory.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
			case FLOAT16 -> Float.float16ToFloat(memory.getAtIndex(ValueLayout.JAVA_SHORT, i));
			case BFLOAT16 -> Float.intBitsToFloat(memory.getAtIndex(ValueLayout.JAVA_SHORT, i) << 16);
			case INT8 -> memory.getAtIndex(ValueLayout.JAVA_BYTE, i);
			case UINT8 -> Byte.toUnsignedInt(memory.getAtIndex(ValueLayout.JAVA_BYTE, i));
			case INT32 -> memory.getAtIndex(ValueLayout.JAVA_INT, i);
			case INT64 -> memory.getAtIndex(ValueLayout.JAVA_LONG, i);
		};
	}

	/**
	 * The number converted to the type: rounded to nearest even, or towards zero. Called
	 * for millions of values, so that native memory would not be freed in time.
	 */
	static double rounded(DataType type, double value) {
		MemorySegment one = MemorySegment.ofArray(new long[1]);
		set(one, type, 0, value);
		return get(one, type, 0);
	}

	private static short bfloat16(float value) {
		int bits = Float.floatToRawIntBits(value);
		return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
	}

}
