package io.tutti.benchmark;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.DataType;

/**
 * Reads and writes small integers as elements of any type.
 */
final class Numbers {

	private final DataType type;

	Numbers(DataType type) {
		this.type = type;
	}

	void put(MemorySegment buffer, long index, int value) {
		switch (this.type) {
			case FLOAT32 -> buffer.setAtIndex(ValueLayout.JAVA_FLOAT, index, value);
			case FLOAT64 -> buffer.setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
			case FLOAT16 -> buffer.setAtIndex(ValueLayout.JAVA_SHORT, index, Float.floatToFloat16(value));
			case BFLOAT16 ->
				buffer.setAtIndex(ValueLayout.JAVA_SHORT, index, (short) (Float.floatToRawIntBits(value) >>> 16));
			case INT8, UINT8 -> buffer.set(ValueLayout.JAVA_BYTE, index, (byte) value);
			case INT32 -> buffer.setAtIndex(ValueLayout.JAVA_INT, index, value);
			case INT64 -> buffer.setAtIndex(ValueLayout.JAVA_LONG, index, value);
		}
	}

	double get(MemorySegment buffer, long index) {
		return switch (this.type) {
			case FLOAT32 -> buffer.getAtIndex(ValueLayout.JAVA_FLOAT, index);
			case FLOAT64 -> buffer.getAtIndex(ValueLayout.JAVA_DOUBLE, index);
			case FLOAT16 -> Float.float16ToFloat(buffer.getAtIndex(ValueLayout.JAVA_SHORT, index));
			case BFLOAT16 -> Float.intBitsToFloat(buffer.getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
			case INT8 -> buffer.get(ValueLayout.JAVA_BYTE, index);
			case UINT8 -> buffer.get(ValueLayout.JAVA_BYTE, index) & 0xff;
			case INT32 -> buffer.getAtIndex(ValueLayout.JAVA_INT, index);
			case INT64 -> buffer.getAtIndex(ValueLayout.JAVA_LONG, index);
		};
	}

	/** A sum divided by the world size with the rounding of the element type. */
	double quotient(double sum, int worldSize) {
		return switch (this.type) {
			case FLOAT32 -> (float) sum / worldSize;
			case FLOAT64 -> sum / worldSize;
			case FLOAT16 -> Float.float16ToFloat(Float.floatToFloat16((float) sum / worldSize));
			case BFLOAT16 -> nearestBfloat16((float) sum / worldSize);
			case INT8, UINT8, INT32, INT64 -> (long) sum / worldSize;
		};
	}

	private static float nearestBfloat16(float value) {
		int bits = Float.floatToRawIntBits(value);
		int rounded = bits + 0x7fff + (bits >>> 16 & 1);
		return Float.intBitsToFloat(rounded & 0xffff0000);
	}

}
