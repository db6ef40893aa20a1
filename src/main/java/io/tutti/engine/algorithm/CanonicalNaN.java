package io.tutti.engine.algorithm;

import java.lang.foreign.ValueLayout;

import io.tutti.DataType;
import io.tutti.engine.spi.NativeMemory;

/**
 * Replaces every NaN in a vector by the canonical one. Used where several ranks compute
 * the same vector independently: interpreted and compiled code may give different bits to
 * the NaN that results from two NaNs.
 */
final class CanonicalNaN {

	private static final short FLOAT16_NAN = 0x7e00;

	private static final int FLOAT16_INFINITY = 0x7c00;

	private static final short BFLOAT16_NAN = 0x7fc0;

	private static final int BFLOAT16_INFINITY = 0x7f80;

	private CanonicalNaN() {
	}

	static void replace(DataType type, long address, long bytes) {
		switch (type) {
			case FLOAT32 -> replaceFloats(address, address + bytes);
			case FLOAT64 -> replaceDoubles(address, address + bytes);
			case FLOAT16 -> replaceShorts(address, address + bytes, FLOAT16_INFINITY, FLOAT16_NAN);
			case BFLOAT16 -> replaceShorts(address, address + bytes, BFLOAT16_INFINITY, BFLOAT16_NAN);
			case INT8, UINT8, INT32, INT64 -> {
			}
		}
	}

	private static void replaceFloats(long start, long end) {
		for (long at = start; at < end; at += Float.BYTES) {
			if (Float.isNaN(NativeMemory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at))) {
				NativeMemory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, Float.NaN);
			}
		}
	}

	private static void replaceDoubles(long start, long end) {
		for (long at = start; at < end; at += Double.BYTES) {
			if (Double.isNaN(NativeMemory.ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at))) {
				NativeMemory.ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at, Double.NaN);
			}
		}
	}

	/** A magnitude above infinity is a NaN. */
	private static void replaceShorts(long start, long end, int infinity, short canonical) {
		for (long at = start; at < end; at += Short.BYTES) {
			if ((NativeMemory.ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) & Short.MAX_VALUE) > infinity) {
				NativeMemory.ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, canonical);
			}
		}
	}

}
