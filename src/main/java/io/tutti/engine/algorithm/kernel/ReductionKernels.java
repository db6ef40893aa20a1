package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.ValueLayout;

import io.tutti.engine.DataType;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;

/** Temporary. */
public final class ReductionKernels {

	public static ReductionKernels get() {
		return new ReductionKernels();
	}

	public void reduce(DataType type, ReduceOp op, long target, long left, long right, long count) {
		for (long i = 0; i < count; i++) {
			switch (type) {
				case FLOAT32 -> {
					float l = NativeMemory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, left + 4 * i);
					float r = NativeMemory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, right + 4 * i);
					NativeMemory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, target + 4 * i, (float) f(op, l, r));
				}
				case FLOAT64 -> {
					double l = NativeMemory.ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, left + 8 * i);
					double r = NativeMemory.ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, right + 8 * i);
					NativeMemory.ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, target + 8 * i, f(op, l, r));
				}
				case INT32 -> {
					int l = NativeMemory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, left + 4 * i);
					int r = NativeMemory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, right + 4 * i);
					NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, target + 4 * i, (int) f(op, l, r));
				}
				case INT64 -> {
					long l = NativeMemory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, left + 8 * i);
					long r = NativeMemory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, right + 8 * i);
					NativeMemory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, target + 8 * i, (long) f(op, l, r));
				}
			}
		}
	}

	public void reduceToBoth(DataType type, ReduceOp op, long target, long secondTarget, long left, long right,
			long count) {
		reduce(type, op, target, left, right, count);
		NativeMemory.copy(target, secondTarget, count * type.bytes());
	}

	double f(ReduceOp op, double l, double r) {
		return switch (op) {
			case SUM, AVERAGE -> l + r;
			case PRODUCT -> l * r;
			case MIN -> Math.min(l, r);
			case MAX -> Math.max(l, r);
		};
	}

	public void finish(DataType type, ReduceOp op, long target, long count, int worldSize) {
		if (op != ReduceOp.AVERAGE) {
			return;
		}
		for (long i = 0; i < count; i++) {
			switch (type) {
				case FLOAT32 -> NativeMemory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, target + 4 * i,
						NativeMemory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, target + 4 * i) / worldSize);
				case FLOAT64 -> NativeMemory.ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, target + 8 * i,
						NativeMemory.ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, target + 8 * i) / worldSize);
				case INT32 -> NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, target + 4 * i,
						NativeMemory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, target + 4 * i) / worldSize);
				case INT64 -> NativeMemory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, target + 8 * i,
						NativeMemory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, target + 8 * i) / worldSize);
			}
		}
	}

}
