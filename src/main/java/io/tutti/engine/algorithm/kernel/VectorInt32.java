package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * int32, one vector at a time.
 */
final class VectorInt32 {

	private static final VectorSpecies<Integer> SPECIES = IntVector.SPECIES_PREFERRED;

	private VectorInt32() {
	}

	/**
	 * The loops; division is scalar, since processors have no integer vector division.
	 */
	static Loops loops() {
		return new Loops(VectorInt32::sum, VectorInt32::product, VectorInt32::minimum, VectorInt32::maximum,
				ScalarInt32.loops().quotient());
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

	private static IntVector get(long address) {
		return IntVector.fromMemorySegment(SPECIES, NativeMemory.ALL, address, VectorKernels.ORDER);
	}

	private static void put(long address, IntVector value) {
		value.intoMemorySegment(NativeMemory.ALL, address, VectorKernels.ORDER);
	}

}
