package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * float64, one vector at a time. Every NaN result is stored as the canonical one; only a
 * NaN differs from itself. The check is hidden by memory latency, and
 * {@code test(IS_NAN)} would double compile time.
 * <p>
 * Each loop is written out in full. If loads and stores were separate methods, the
 * compiler might not inline one of them and would then allocate an object per vector.
 */
final class VectorFloat64 {

	private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;

	private VectorFloat64() {
	}

	static Loops loops() {
		return new Loops(VectorFloat64::sum, VectorFloat64::product, VectorFloat64::minimum, VectorFloat64::maximum,
				VectorFloat64::divide);
	}

	private static void sum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			DoubleVector result = DoubleVector
				.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.add(DoubleVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Double.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			DoubleVector result = DoubleVector
				.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.mul(DoubleVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Double.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void minimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			DoubleVector result = DoubleVector
				.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.min(DoubleVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Double.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void maximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			DoubleVector result = DoubleVector
				.fromMemorySegment(SPECIES, NativeMemory.ALL, left + i, VectorKernels.ORDER)
				.max(DoubleVector.fromMemorySegment(SPECIES, NativeMemory.ALL, right + i, VectorKernels.ORDER));
			result.blend(Double.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

	private static void divide(long target, long bytes, int divisor) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			DoubleVector result = DoubleVector
				.fromMemorySegment(SPECIES, NativeMemory.ALL, target + i, VectorKernels.ORDER)
				.div(divisor);
			result.blend(Double.NaN, result.compare(VectorOperators.NE, result))
				.intoMemorySegment(NativeMemory.ALL, target + i, VectorKernels.ORDER);
		}
	}

}
