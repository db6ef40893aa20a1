package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Vector loops over double elements. One loop per operator: an operator that is a
 * variable would not be compiled into an instruction.
 */
final class VectorDoubles {

	private static final MemorySegment ALL = NativeMemory.ALL;

	private static final ValueLayout.OfDouble ELEMENT = ValueLayout.JAVA_DOUBLE_UNALIGNED;

	private static final ByteOrder ORDER = ByteOrder.nativeOrder();

	private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;

	private static final int VECTOR_BYTES = SPECIES.vectorByteSize();

	private static final int BYTES = Double.BYTES;

	private VectorDoubles() {
	}

	static void reduce(ReduceOp op, long target, long left, long right, long count) {
		long bytes = count * BYTES;
		switch (op) {
			case SUM, AVERAGE -> sum(target, left, right, bytes);
			case PRODUCT -> product(target, left, right, bytes);
			case MIN -> min(target, left, right, bytes);
			case MAX -> max(target, left, right, bytes);
		}
	}

	private static void sum(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).add(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			double l = ALL.get(ELEMENT, left + i);
			double r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, l + r);
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).mul(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			double l = ALL.get(ELEMENT, left + i);
			double r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, l * r);
		}
	}

	private static void min(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).min(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			double l = ALL.get(ELEMENT, left + i);
			double r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, Math.min(l, r));
		}
	}

	private static void max(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).max(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			double l = ALL.get(ELEMENT, left + i);
			double r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, Math.max(l, r));
		}
	}

	private static DoubleVector load(long address) {
		return DoubleVector.fromMemorySegment(SPECIES, ALL, address, ORDER);
	}

}
