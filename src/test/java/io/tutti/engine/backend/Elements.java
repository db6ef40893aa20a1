package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.DataType;

/**
 * Reads and writes elements of any type as small whole numbers.
 */
final class Elements {

	private Elements() {
	}

	static void put(MemorySegment buffer, DataType type, long index, long value) {
		switch (type) {
			case FLOAT32 -> buffer.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, index, value);
			case FLOAT64 -> buffer.setAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, index, value);
			case FLOAT16 -> buffer.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, index, Float.floatToFloat16(value));
			case BFLOAT16 -> buffer.setAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, index,
					(short) (Float.floatToRawIntBits(value) >>> 16));
			case INT8, UINT8 -> buffer.set(ValueLayout.JAVA_BYTE, index, (byte) value);
			case INT32 -> buffer.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, index, (int) value);
			case INT64 -> buffer.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, index, value);
		}
	}

	static long get(MemorySegment buffer, DataType type, long index) {
		return switch (type) {
			case FLOAT32 -> exact(buffer.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, index));
			case FLOAT64 -> exact(buffer.getAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, index));
			case FLOAT16 -> exact(Float.float16ToFloat(buffer.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, index)));
			case BFLOAT16 ->
				exact(Float.intBitsToFloat(buffer.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, index) << 16));
			case INT8 -> buffer.get(ValueLayout.JAVA_BYTE, index);
			case UINT8 -> buffer.get(ValueLayout.JAVA_BYTE, index) & 0xff;
			case INT32 -> buffer.getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, index);
			case INT64 -> buffer.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, index);
		};
	}

	private static long exact(double value) {
		if (value != Math.rint(value)) {
			throw new AssertionError(value + " is not the whole number that was expected");
		}
		return (long) value;
	}

}
