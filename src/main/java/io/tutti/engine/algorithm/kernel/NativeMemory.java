package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * All of native memory as one constant segment. Loops over it keep their speed whatever
 * memory they are given; segments handed in would mix native and mapped ones in one type
 * profile and slow every loop down. Nothing is checked here: callers have checked at the
 * edge of the API. Addresses need no alignment.
 */
final class NativeMemory {

	static final MemorySegment ALL = everything();

	private NativeMemory() {
	}

	static void copy(long target, long source, long bytes) {
		MemorySegment.copy(ALL, source, ALL, target, bytes);
	}

	static float getFloat(long address) {
		return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
	}

	/** Stores any NaN as the canonical one. */
	static void putFloat(long address, float value) {
		ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, Float.floatToIntBits(value));
	}

	static double getDouble(long address) {
		return ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, address);
	}

	/** Stores any NaN as the canonical one. */
	static void putDouble(long address, double value) {
		ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, Double.doubleToLongBits(value));
	}

	static int getInt(long address) {
		return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
	}

	static void putInt(long address, int value) {
		ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
	}

	static long getLong(long address) {
		return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
	}

	static void putLong(long address, long value) {
		ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
	}

	static short getShort(long address) {
		return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
	}

	static void putShort(long address, short value) {
		ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
	}

	static byte getByte(long address) {
		return ALL.get(ValueLayout.JAVA_BYTE, address);
	}

	static void putByte(long address, byte value) {
		ALL.set(ValueLayout.JAVA_BYTE, address, value);
	}

	@SuppressWarnings("restricted")
	private static MemorySegment everything() {
		return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
	}

}
