package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * int64, one element at a time.
 */
final class ScalarInt64 {

	private ScalarInt64() {
	}

	static Loops loops() {
		return new Loops(ScalarInt64::sum, ScalarInt64::product, ScalarInt64::minimum, ScalarInt64::maximum,
				ScalarInt64::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Long.BYTES) {
			NativeMemory.putLong(target + i, NativeMemory.getLong(left + i) + NativeMemory.getLong(right + i));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Long.BYTES) {
			NativeMemory.putLong(target + i, NativeMemory.getLong(left + i) * NativeMemory.getLong(right + i));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Long.BYTES) {
			NativeMemory.putLong(target + i, Math.min(NativeMemory.getLong(left + i), NativeMemory.getLong(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Long.BYTES) {
			NativeMemory.putLong(target + i, Math.max(NativeMemory.getLong(left + i), NativeMemory.getLong(right + i)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += Long.BYTES) {
			NativeMemory.putLong(target + i, NativeMemory.getLong(target + i) / divisor);
		}
	}

}
