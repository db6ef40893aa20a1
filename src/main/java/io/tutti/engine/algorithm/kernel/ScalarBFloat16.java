package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * bfloat16, one element at a time: widened, combined as float and rounded once.
 */
final class ScalarBFloat16 {

	private ScalarBFloat16() {
	}

	static Loops loops() {
		return new Loops(ScalarBFloat16::sum, ScalarBFloat16::product, ScalarBFloat16::minimum, ScalarBFloat16::maximum,
				ScalarBFloat16::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Short.BYTES) {
			put(target + i, get(left + i) + get(right + i));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Short.BYTES) {
			put(target + i, get(left + i) * get(right + i));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Short.BYTES) {
			put(target + i, Math.min(get(left + i), get(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += Short.BYTES) {
			put(target + i, Math.max(get(left + i), get(right + i)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += Short.BYTES) {
			put(target + i, get(target + i) / divisor);
		}
	}

	private static float get(long address) {
		return Float.intBitsToFloat(NativeMemory.getShort(address) << Short.SIZE);
	}

	private static void put(long address, float value) {
		NativeMemory.putShort(address, (short) (roundedBits(value) >>> Short.SIZE));
	}

	/** The bits of a float whose upper half is the nearest bfloat16, ties to even. */
	private static int roundedBits(float value) {
		int bits = Float.floatToIntBits(value);
		return bits + 0x7fff + ((bits >>> Short.SIZE) & 1);
	}

}
