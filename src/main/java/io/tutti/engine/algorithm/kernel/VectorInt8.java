package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.spi.NativeMemory;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * int8 and uint8, one vector at a time. Sums and products wrap to the same bits for both;
 * order and division differ. Division is scalar, since processors have no integer vector
 * division.
 */
final class VectorInt8 {

	private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;

	private VectorInt8() {
	}

	static Loops signed() {
		return new Loops(VectorInt8::sum, VectorInt8::product, VectorInt8::minimum, VectorInt8::maximum,
				ScalarInt8.signed().quotient());
	}

	static Loops unsigned() {
		return new Loops(VectorInt8::sum, VectorInt8::product, VectorInt8::unsignedMinimum, VectorInt8::unsignedMaximum,
				ScalarInt8.unsigned().quotient());
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

	private static void unsignedMinimum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(left + i).lanewise(VectorOperators.UMIN, get(right + i)));
		}
	}

	private static void unsignedMaximum(long target, long left, long right, long bytes) {
		for (long i = 0; i < bytes; i += VectorKernels.STEP_BYTES) {
			put(target + i, get(left + i).lanewise(VectorOperators.UMAX, get(right + i)));
		}
	}

	private static ByteVector get(long address) {
		return ByteVector.fromMemorySegment(SPECIES, NativeMemory.ALL, address, VectorKernels.ORDER);
	}

	private static void put(long address, ByteVector value) {
		value.intoMemorySegment(NativeMemory.ALL, address, VectorKernels.ORDER);
	}

}
