package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * float16, one vector at a time. The vector module cannot convert 16-bit floats, but the
 * compiler vectorises {@link Float#float16ToFloat} in plain loops over arrays. Blocks are
 * therefore staged through arrays that stay in the L1 cache.
 */
final class VectorFloat16 {

	/** Two such blocks leave half of a typical L1 cache to the operands. */
	private static final int BLOCK_ELEMENTS = 4096;

	private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;

	/**
	 * Staging buffers are thread-local: groups run concurrently on different threads.
	 */
	private static final ThreadLocal<Block> BLOCK = ThreadLocal.withInitial(Block::new);

	private VectorFloat16() {
	}

	static Loops loops() {
		return new Loops((target, left, right, bytes) -> combine(target, left, right, bytes, VectorFloat16::add),
				(target, left, right, bytes) -> combine(target, left, right, bytes, VectorFloat16::multiply),
				(target, left, right, bytes) -> combine(target, left, right, bytes, VectorFloat16::minimum),
				(target, left, right, bytes) -> combine(target, left, right, bytes, VectorFloat16::maximum),
				VectorFloat16::divide);
	}

	private static void combine(long target, long left, long right, long bytes, ArrayLoop loop) {
		Block block = BLOCK.get();
		for (long i = 0; i < bytes; i += BLOCK_ELEMENTS * Short.BYTES) {
			int count = elements(bytes - i);
			load(block.left, left + i, count);
			load(block.right, right + i, count);
			loop.combine(block.left, block.right, count);
			store(target + i, block.left, count);
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		Block block = BLOCK.get();
		for (long i = 0; i < bytes; i += BLOCK_ELEMENTS * Short.BYTES) {
			int count = elements(bytes - i);
			load(block.left, target + i, count);
			divide(block.left, count, divisor);
			store(target + i, block.left, count);
		}
	}

	private static int elements(long bytesLeft) {
		return (int) Math.min(BLOCK_ELEMENTS, bytesLeft / Short.BYTES);
	}

	private static void add(short[] left, short[] right, int count) {
		for (int i = 0; i < count; i++) {
			left[i] = Float.floatToFloat16(Float.float16ToFloat(left[i]) + Float.float16ToFloat(right[i]));
		}
	}

	private static void multiply(short[] left, short[] right, int count) {
		for (int i = 0; i < count; i++) {
			left[i] = Float.floatToFloat16(Float.float16ToFloat(left[i]) * Float.float16ToFloat(right[i]));
		}
	}

	private static void minimum(short[] left, short[] right, int count) {
		for (int i = 0; i < count; i++) {
			left[i] = Float.floatToFloat16(Math.min(Float.float16ToFloat(left[i]), Float.float16ToFloat(right[i])));
		}
	}

	private static void maximum(short[] left, short[] right, int count) {
		for (int i = 0; i < count; i++) {
			left[i] = Float.floatToFloat16(Math.max(Float.float16ToFloat(left[i]), Float.float16ToFloat(right[i])));
		}
	}

	private static void divide(short[] values, int count, int divisor) {
		for (int i = 0; i < count; i++) {
			values[i] = Float.floatToFloat16(Float.float16ToFloat(values[i]) / divisor);
		}
	}

	private static void load(short[] block, long source, int count) {
		MemorySegment.copy(NativeMemory.ALL, ValueLayout.JAVA_SHORT_UNALIGNED, source, block, 0, count);
	}

	/** Stores every NaN as the canonical one. */
	private static void store(long target, short[] block, int count) {
		for (int i = 0; i < count; i += SPECIES.length()) {
			ShortVector value = ShortVector.fromArray(SPECIES, block, i);
			VectorMask<Short> notNumbers = value.and((short) 0x7fff)
				.compare(VectorOperators.GT, ScalarFloat16.INFINITY);
			value.blend(ScalarFloat16.NAN, notNumbers)
				.intoMemorySegment(NativeMemory.ALL, target + (long) i * Short.BYTES, VectorKernels.ORDER);
		}
	}

	/** One operator on staged elements; the result replaces the left operands. */
	@FunctionalInterface
	private interface ArrayLoop {

		void combine(short[] left, short[] right, int count);

	}

	private static final class Block {

		private final short[] left = new short[BLOCK_ELEMENTS];

		private final short[] right = new short[BLOCK_ELEMENTS];

	}

}
