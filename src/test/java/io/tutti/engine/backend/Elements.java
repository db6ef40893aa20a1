package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.DataType;

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
			case INT32 -> buffer.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, index, (int) value);
			case INT64 -> buffer.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, index, value);
		}
	}

	static long get(MemorySegment buffer, DataType type, long index) {
		return switch (type) {
			case FLOAT32 -> exact(buffer.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, index));
			case FLOAT64 -> exact(buffer.getAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, index));
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
