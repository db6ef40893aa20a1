package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * int64, one vector at a time.
 */
final class VectorInt64 {

	private static final VectorSpecies<Long> SPECIES = LongVector.SPECIES_PREFERRED;

	private VectorInt64() {
	}

	/**
	 * The loops; division is scalar, since processors have no integer vector division.
	 */
	static Loops loops() {
		return new Loops(VectorInt64::sum, VectorInt64::product, VectorInt64::minimum, VectorInt64::maximum,
				ScalarInt64.loops().quotient());
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(left + i).add(get(right + i)));
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(left + i).mul(get(right + i)));
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(left + i).min(get(right + i)));
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(left + i).max(get(right + i)));
		}
	}

	private static LongVector get(long address) {
		return LongVector.fromMemorySegment(SPECIES, NativeMemory.ALL, address, VectorKernels.ORDER);
	}

	private static void put(long address, LongVector value) {
		value.intoMemorySegment(NativeMemory.ALL, address, VectorKernels.ORDER);
	}

}
