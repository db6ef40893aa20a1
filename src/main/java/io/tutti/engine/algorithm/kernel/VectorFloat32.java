package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.NativeMemory;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * float32, a vector at a time. A result that is any NaN, which alone differs from itself,
 * is stored as the canonical one; that costs nothing beside the memory's time, and
 * {@code test(IS_NAN)} would compile twice as long.
 * <p>
 * Each loop says all it does itself: were the loads and the store methods of ours, the
 * compiler might leave one of them a call, and every vector that passes through it would
 * be an object.
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
			FloatVector result = FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.add(FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Float.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			FloatVector result = FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.mul(FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Float.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			FloatVector result = FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.min(FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Float.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			FloatVector result = FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.max(FloatVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Float.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			FloatVector result = FloatVector
				.fromMemorySegment(SPECIES, NativeMemory.ALL, target + i, VectorKernels.ORDER)
				.div(divisor);
			result.blend(Float.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

}
