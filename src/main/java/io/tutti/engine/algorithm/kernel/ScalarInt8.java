package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * int8 and uint8, one element at a time. Sums and products wrap to the same bits for
 * both; order and division differ.
 */
final class ScalarInt8 {

	private ScalarInt8() {
	}

	static Loops signed() {
		return new Loops(ScalarInt8::sum, ScalarInt8::product, ScalarInt8::minimum, ScalarInt8::maximum,
				ScalarInt8::divide);
	}

	static Loops unsigned() {
		return new Loops(ScalarInt8::sum, ScalarInt8::product, ScalarInt8::unsignedMinimum, ScalarInt8::unsignedMaximum,
				ScalarInt8::unsignedDivide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, get(left + i) + get(right + i));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, get(left + i) * get(right + i));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, Math.min(get(left + i), get(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, Math.max(get(left + i), get(right + i)));
		}
	}

	private static void unsignedMinimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, Math.min(getUnsigned(left + i), getUnsigned(right + i)));
		}
	}

	private static void unsignedMaximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, Math.max(getUnsigned(left + i), getUnsigned(right + i)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, get(target + i) / divisor);
		}
	}

	private static void unsignedDivide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i++) {
			put(target + i, getUnsigned(target + i) / divisor);
		}
	}

	private static int get(long address) {
		return NativeMemory.getByte(address);
	}

	private static int getUnsigned(long address) {
		return Byte.toUnsignedInt(NativeMemory.getByte(address));
	}

	private static void put(long address, int value) {
		NativeMemory.putByte(address, (byte) value);
	}

}
