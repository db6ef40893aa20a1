package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * int32, one element at a time.
 */
final class ScalarInt32 {

	private ScalarInt32() {
	}

	static Loops loops() {
		return new Loops(ScalarInt32::sum, ScalarInt32::product, ScalarInt32::minimum, ScalarInt32::maximum,
				ScalarInt32::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Integer.BYTES) {
			NativeMemory.putInt(target + i, NativeMemory.getInt(left + i) + NativeMemory.getInt(right + i));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Integer.BYTES) {
			NativeMemory.putInt(target + i, NativeMemory.getInt(left + i) * NativeMemory.getInt(right + i));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Integer.BYTES) {
			NativeMemory.putInt(target + i, Math.min(NativeMemory.getInt(left + i), NativeMemory.getInt(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Integer.BYTES) {
			NativeMemory.putInt(target + i, Math.max(NativeMemory.getInt(left + i), NativeMemory.getInt(right + i)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += Integer.BYTES) {
			NativeMemory.putInt(target + i, NativeMemory.getInt(target + i) / divisor);
		}
	}

}
