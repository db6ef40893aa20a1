package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * float64, one element at a time.
 */
final class ScalarFloat64 {

	private ScalarFloat64() {
	}

	static Loops loops() {
		return new Loops(ScalarFloat64::sum, ScalarFloat64::product, ScalarFloat64::minimum, ScalarFloat64::maximum,
				ScalarFloat64::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Double.BYTES) {
			NativeMemory.putDouble(target + i, NativeMemory.getDouble(left + i) + NativeMemory.getDouble(right + i));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Double.BYTES) {
			NativeMemory.putDouble(target + i, NativeMemory.getDouble(left + i) * NativeMemory.getDouble(right + i));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Double.BYTES) {
			NativeMemory.putDouble(target + i,
					Math.min(NativeMemory.getDouble(left + i), NativeMemory.getDouble(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Double.BYTES) {
			NativeMemory.putDouble(target + i,
					Math.max(NativeMemory.getDouble(left + i), NativeMemory.getDouble(right + i)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += Double.BYTES) {
			NativeMemory.putDouble(target + i, NativeMemory.getDouble(target + i) / divisor);
		}
	}

}
