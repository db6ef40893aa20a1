package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.DataType;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;

/**
 * Combines operands in native memory, element by element. Addresses need no alignment;
 * the target may be one of the operands. 16-bit floats are combined in float32 and
 * rounded once, to nearest even. Allocates nothing per call, and keeps scratch memory, so
 * each group has its own and one thread uses it at a time.
 */
public final class ReductionKernels {

	/** A block that is stored twice stays in the first-level cache between the stores. */
	private static final long BLOCK_BYTES = 8 * 1024;

	private static final boolean VECTORS = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();

	private final StagedLoops staged = new StagedLoops();

	private ReductionKernels() {
	}

	/** Kernels for one group. */
	public static ReductionKernels get() {
		return new ReductionKernels();
	}

	/** Which kind this JVM has: {@code vector} or {@code scalar}. */
	public static String kind() {
		return VECTORS ? "vector" : "scalar";
	}

	/**
	 * {@code target[i] = left[i] op right[i]}; an average is a sum until it is finished.
	 */
	public void reduce(DataType type, ReduceOp op, long target, long left, long right, long count) {
		if (!VECTORS) {
			this.staged.reduce(type, op, target, left, right, count);
			return;
		}
		switch (type) {
			case FLOAT32 -> VectorFloats.reduce(op, target, left, right, count);
			case FLOAT64 -> VectorDoubles.reduce(op, target, left, right, count);
			case INT32 -> VectorInts.reduce(op, target, left, right, count);
			case INT64 -> VectorLongs.reduce(op, target, left, right, count);
			case FLOAT16, BFLOAT16, INT8, UINT8 -> this.staged.reduce(type, op, target, left, right, count);
		}
	}

	/** As {@link #reduce}, and stores the result at a second place too. */
	public void reduceToBoth(DataType type, ReduceOp op, long target, long secondTarget, long left, long right,
			long count) {
		long block = BLOCK_BYTES / type.bytes();
		for (long done = 0; done < count; done += block) {
			long some = Math.min(block, count - done);
			long offset = done * type.bytes();
			reduce(type, op, target + offset, left + offset, right + offset, some);
			NativeMemory.copy(target + offset, secondTarget + offset, some * type.bytes());
		}
	}

	/**
	 * Turns the combination of all ranks' operands into the result: divides an average by
	 * the world size, integers rounding towards zero; leaves every other operator alone.
	 */
	public void finish(DataType type, ReduceOp op, long target, long count, int worldSize) {
		if (op == ReduceOp.AVERAGE && worldSize > 1) {
			this.staged.divide(type, target, count, worldSize);
		}
	}

}
