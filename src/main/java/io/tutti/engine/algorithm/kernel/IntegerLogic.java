package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;

/**
 * Bitwise and logical operators on integers. Bitwise ones ignore the element type and
 * process 8 bytes at a time. Logical ones store 1 or 0 per element of a width in bytes.
 */
final class IntegerLogic {

	private IntegerLogic() {
	}

	static void bitwiseAnd(long target, long left, long right, long bytes) {
		long words = bytes & -Long.BYTES;
		for (long i = 0; i < words; i += Long.BYTES) {
			NativeMemory.putLong(target + i, NativeMemory.getLong(left + i) & NativeMemory.getLong(right + i));
		}
		for (long i = words; i < bytes; i++) {
			NativeMemory.putByte(target + i, (byte) (NativeMemory.getByte(left + i) & NativeMemory.getByte(right + i)));
		}
	}

	static void bitwiseOr(long target, long left, long right, long bytes) {
		long words = bytes & -Long.BYTES;
		for (long i = 0; i < words; i += Long.BYTES) {
			NativeMemory.putLong(target + i, NativeMemory.getLong(left + i) | NativeMemory.getLong(right + i));
		}
		for (long i = words; i < bytes; i++) {
			NativeMemory.putByte(target + i, (byte) (NativeMemory.getByte(left + i) | NativeMemory.getByte(right + i)));
		}
	}

	static void bitwiseXor(long target, long left, long right, long bytes) {
		long words = bytes & -Long.BYTES;
		for (long i = 0; i < words; i += Long.BYTES) {
			NativeMemory.putLong(target + i, NativeMemory.getLong(left + i) ^ NativeMemory.getLong(right + i));
		}
		for (long i = words; i < bytes; i++) {
			NativeMemory.putByte(target + i, (byte) (NativeMemory.getByte(left + i) ^ NativeMemory.getByte(right + i)));
		}
	}

	static void logicalAnd(int width, long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += width) {
			put(width, target + i, isTrue(width, left + i) & isTrue(width, right + i));
		}
	}

	static void logicalOr(int width, long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += width) {
			put(width, target + i, isTrue(width, left + i) | isTrue(width, right + i));
		}
	}

	static void logicalXor(int width, long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += width) {
			put(width, target + i, isTrue(width, left + i) ^ isTrue(width, right + i));
		}
	}

	private static boolean isTrue(int width, long address) {
		return switch (width) {
			case Byte.BYTES -> NativeMemory.getByte(address) != 0;
			case Integer.BYTES -> NativeMemory.getInt(address) != 0;
			default -> NativeMemory.getLong(address) != 0;
		};
	}

	private static void put(int width, long address, boolean value) {
		switch (width) {
			case Byte.BYTES -> NativeMemory.putByte(address, (byte) (value ? 1 : 0));
			case Integer.BYTES -> NativeMemory.putInt(address, value ? 1 : 0);
			default -> NativeMemory.putLong(address, value ? 1 : 0);
		}
	}

}
