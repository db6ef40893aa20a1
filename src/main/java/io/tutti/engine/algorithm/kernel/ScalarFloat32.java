package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * float32, one element at a time.
 */
final class ScalarFloat32 {

	private ScalarFloat32() {
	}

	static Loops loops() {
		return new Loops(ScalarFloat32::sum, ScalarFloat32::product, ScalarFloat32::minimum, ScalarFloat32::maximum,
				ScalarFloat32::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Float.BYTES) {
			NativeMemory.putFloat(target + i, NativeMemory.getFloat(left + i) + NativeMemory.getFloat(right + i));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Float.BYTES) {
			NativeMemory.putFloat(target + i, NativeMemory.getFloat(left + i) * NativeMemory.getFloat(right + i));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Float.BYTES) {
			NativeMemory.putFloat(target + i,
					Math.min(NativeMemory.getFloat(left + i), NativeMemory.getFloat(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Float.BYTES) {
			NativeMemory.putFloat(target + i,
					Math.max(NativeMemory.getFloat(left + i), NativeMemory.getFloat(right + i)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += Float.BYTES) {
			NativeMemory.putFloat(target + i, NativeMemory.getFloat(target + i) / divisor);
		}
	}

}
