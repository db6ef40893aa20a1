package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.NativeMemory;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * float32, a vector at a time.
 */
final class VectorFloat32 {

	private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;

	private VectorFloat32() {
	}

	static Loops loops() {
		return new Loops(VectorFloat32::sum, VectorFloat32::product, VectorFloat32::minimum, VectorFloat32::maximum,
				VectorFloat32::divide);
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

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(target + i).div(divisor));
		}
	}

	private static FloatVector get(long address) {
		return FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, address, VectorKernels.ORDER);
	}

	/**
	 * Stores any NaN, which alone differs from itself, as the canonical one. Costs
	 * nothing beside the memory's time; {@code test(IS_NAN)} would compile twice as long.
	 */
	private static void put(long address, FloatVector value) {
		FloatVector canonical = value.blend(Float.NaN, value.compare(VectorOperators.NE, value));
		canonical.intoMemorySegment(NativeMemory.ALL, address, VectorKernels.ORDER);
	}

}
