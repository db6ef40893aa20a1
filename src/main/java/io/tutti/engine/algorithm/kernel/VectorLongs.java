package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Vector loops over long elements. One loop per operator: an operator that is a variable
 * would not be compiled into an instruction.
 */
final class VectorLongs {

	private static final MemorySegment ALL = NativeMemory.ALL;

	private static final ValueLayout.OfLong ELEMENT = ValueLayout.JAVA_LONG_UNALIGNED;

	private static final ByteOrder ORDER = ByteOrder.nativeOrder();

	private static final VectorSpecies<Long> SPECIES = LongVector.SPECIES_PREFERRED;

	private static final int VECTOR_BYTES = SPECIES.vectorByteSize();

	private static final int BYTES = Long.BYTES;

	private VectorLongs() {
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
			long l = ALL.get(ELEMENT, left + i);
			long r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, l + r);
		}
	}

	private static void product(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).mul(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			long l = ALL.get(ELEMENT, left + i);
			long r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, l * r);
		}
	}

	private static void min(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).min(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			long l = ALL.get(ELEMENT, left + i);
			long r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, Math.min(l, r));
		}
	}

	private static void max(long target, long left, long right, long bytes) {
		long i = 0;
		for (; i <= bytes - VECTOR_BYTES; i += VECTOR_BYTES) {
			load(left + i).max(load(right + i)).intoMemorySegment(ALL, target + i, ORDER);
		}
		for (; i < bytes; i += BYTES) {
			long l = ALL.get(ELEMENT, left + i);
			long r = ALL.get(ELEMENT, right + i);
			ALL.set(ELEMENT, target + i, Math.max(l, r));
		}
	}

	private static LongVector load(long address) {
		return LongVector.fromMemorySegment(SPECIES, ALL, address, ORDER);
	}

}
