package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * bfloat16, one vector of ints at a time, each of which holds two elements. Shifting or
 * masking turns either half into a float. The halves are combined separately, rounded
 * once and packed again.
 */
final class VectorBFloat16 {

	private static final VectorSpecies<Integer> SPECIES = IntVector.SPECIES_PREFERRED;

	private static final int UPPER_HALF = 0xffff0000;

	private VectorBFloat16() {
	}

	static Loops loops() {
		return new Loops(VectorBFloat16::sum, VectorBFloat16::product, VectorBFloat16::minimum, VectorBFloat16::maximum,
				VectorBFloat16::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			IntVector a = get(left + i);
			IntVector b = get(right + i);
			put(target + i, lower(a).add(lower(b)), upper(a).add(upper(b)));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			IntVector a = get(left + i);
			IntVector b = get(right + i);
			put(target + i, lower(a).mul(lower(b)), upper(a).mul(upper(b)));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			IntVector a = get(left + i);
			IntVector b = get(right + i);
			put(target + i, lower(a).min(lower(b)), upper(a).min(upper(b)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			IntVector a = get(left + i);
			IntVector b = get(right + i);
			put(target + i, lower(a).max(lower(b)), upper(a).max(upper(b)));
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			IntVector a = get(target + i);
			put(target + i, lower(a).div(divisor), upper(a).div(divisor));
		}
	}

	private static IntVector get(long address) {
		return IntVector.fromMemorySegment(SPECIES, NativeMemory.ALL, address, VectorKernels.ORDER);
	}

	private static FloatVector lower(IntVector pair) {
		return pair.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats();
	}

	private static FloatVector upper(IntVector pair) {
		return pair.and(UPPER_HALF).reinterpretAsFloats();
	}

	private static void put(long address, FloatVector lower, FloatVector upper) {
		IntVector pair = roundedBits(lower).lanewise(VectorOperators.LSHR, Short.SIZE)
			.or(roundedBits(upper).and(UPPER_HALF));
		pair.intoMemorySegment(NativeMemory.ALL, address, VectorKernels.ORDER);
	}

	/** The bits of floats whose upper halves are the nearest bfloat16, ties to even. */
	private static IntVector roundedBits(FloatVector value) {
		IntVector bits = value.blend(Float.NaN, value.compare(VectorOperators.NE, value)).reinterpretAsInts();
		return bits.add(bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(1)).add(0x7fff);
	}

}
