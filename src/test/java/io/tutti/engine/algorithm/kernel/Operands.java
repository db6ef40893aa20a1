package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

import io.tutti.DataType;

/**
 * Pairs of operands: each limit of a type with each other, then random patterns, then
 * neighbouring values, whose sums and quotients need rounding.
 *
 * @param type element type
 * @param left bit patterns of the left operands
 * @param right bit patterns of the right operands
 */
record Operands(DataType type, long[] left, long[] right) {

	/** More than the largest count in the tests. */
	static final int COUNT = 2048;

	static Operands of(DataType type) {
		Random random = new Random(type.ordinal());
		long[] edges = ExactArithmetic.of(type).edges();
		long[] left = new long[COUNT];
		long[] right = new long[COUNT];
		for (int i = 0; i < COUNT; i++) {
			boolean edge = i < edges.length * edges.length;
			left[i] = edge ? edges[i / edges.length] : mask(type, random.nextLong());
			right[i] = edge ? edges[i % edges.length]
					: (i % 2 == 0) ? mask(type, random.nextLong()) : left[i] ^ random.nextInt(128);
		}
		return new Operands(type, left, right).shuffled(random);
	}

	/**
	 * Shuffles the pairs, so that short blocks contain both limits and random patterns.
	 */
	private Operands shuffled(Random random) {
		for (int i = COUNT - 1; i > 0; i--) {
			int j = random.nextInt(i + 1);
			swap(this.left, i, j);
			swap(this.right, i, j);
		}
		return this;
	}

	private static void swap(long[] values, int i, int j) {
		long value = values[i];
		values[i] = values[j];
		values[j] = value;
	}

	static void write(DataType type, MemorySegment memory, long offset, long bits) {
		switch (type.bytes()) {
			case 1 -> memory.set(ValueLayout.JAVA_BYTE, offset, (byte) bits);
			case 2 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, (short) bits);
			case 4 -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, offset, (int) bits);
			default -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, bits);
		}
	}

	static long read(DataType type, MemorySegment memory, long offset) {
		return mask(type, switch (type.bytes()) {
			case 1 -> memory.get(ValueLayout.JAVA_BYTE, offset);
			case 2 -> memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset);
			case 4 -> memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
			default -> memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
		});
	}

	static void write(DataType type, MemorySegment memory, long offset, long[] values, int count) {
		for (int i = 0; i < count; i++) {
			write(type, memory, offset + (long) i * type.bytes(), values[i]);
		}
	}

	static long[] read(DataType type, MemorySegment memory, long offset, int count) {
		long[] values = new long[count];
		for (int i = 0; i < count; i++) {
			values[i] = read(type, memory, offset + (long) i * type.bytes());
		}
		return values;
	}

	private static long mask(DataType type, long bits) {
		return bits & (-1L >>> (Long.SIZE - Byte.SIZE * type.bytes()));
	}

}
