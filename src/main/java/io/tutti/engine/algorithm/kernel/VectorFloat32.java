package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * float32, one vector at a time. Every NaN result is stored as the canonical one; only a
 * NaN differs from itself. The check is hidden by memory latency, and
 * {@code test(IS_NAN)} would double compile time.
 * <p>
 * Each loop is written out in full. If loads and stores were separate methods, the
 * compiler might not inline one of them and would then allocate an object per vector.
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
