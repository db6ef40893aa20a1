package io.tutti.engine.algorithm.kernel;

import java.time.Duration;
import java.util.function.Function;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Combines blocks of elements in native memory. Addresses are raw, need no alignment and
 * are not checked: an invalid address crashes the JVM, so callers check bounds at the
 * API. Allocates nothing once compiled. Thread-safe.
 * <p>
 * Results do not depend on the kernel implementation, the compiler, or the division of
 * elements into blocks. 16-bit floats are combined as float and rounded once, to nearest
 * even. A NaN result is always the type's canonical NaN. The minimum of -0 and +0 is -0.
 * Integer sums and products wrap around.
 */
public final class ReductionKernels {

	/** A block stays in the L1 cache between reduction and copy. */
	private static final long BLOCK_BYTES = 4096;

	private static final ReductionKernels BEST = best();

	private final String name;

	/**
	 * By the ordinals of type and operator; {@code null} if the type has no such
	 * operator.
	 */
	private final @Nullable Kernel[][] kernels;

	private final Division[] quotients;

	private ReductionKernels(String name, Function<DataType, Loops> source) {
		this.name = name;
		DataType[] types = DataType.values();
		ReduceOp[] ops = ReduceOp.values();
		this.kernels = new Kernel[types.length][ops.length];
		this.quotients = new Division[types.length];
		for (DataType type : types) {
			Loops loops = source.apply(type);
			this.quotients[type.ordinal()] = loops.quotient();
			for (ReduceOp op : ops) {
				this.kernels[type.ordinal()][op.ordinal()] = op.appliesTo(type) ? kernel(loops, type.bytes(), op)
						: null;
			}
		}
	}

	/** The loop that combines two operands; an average is a sum until its last step. */
	private static Kernel kernel(Loops loops, int width, ReduceOp op) {
		return switch (op) {
			case SUM, AVERAGE -> loops.sum();
			case PRODUCT -> loops.product();
			case MIN -> loops.minimum();
			case MAX -> loops.maximum();
			case BITWISE_AND -> IntegerLogic::bitwiseAnd;
			case BITWISE_OR -> IntegerLogic::bitwiseOr;
			case BITWISE_XOR -> IntegerLogic::bitwiseXor;
			case LOGICAL_AND ->
				(target, left, right, bytes) -> IntegerLogic.logicalAnd(width, target, left, right, bytes);
			case LOGICAL_OR ->
				(target, left, right, bytes) -> IntegerLogic.logicalOr(width, target, left, right, bytes);
			case LOGICAL_XOR ->
				(target, left, right, bytes) -> IntegerLogic.logicalXor(width, target, left, right, bytes);
		};
	}

	/** The fastest kernels that this JVM supports. */
	public static ReductionKernels get() {
		return BEST;
	}

	static ReductionKernels scalar() {
		return new ReductionKernels(ScalarKernels.NAME, ScalarKernels::of);
	}

	static ReductionKernels vector() {
		return new ReductionKernels(VectorKernels.NAME, VectorKernels::of);
	}

	private static ReductionKernels best() {
		return ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent() ? vector() : scalar();
	}

	/** {@code vector}, or {@code scalar} if the JVM runs without its vector module. */
	public String name() {
		return this.name;
	}

	/**
	 * Stores left op right for each element; an average is a sum until {@link #finish}.
	 * @param target address of the result; may equal {@code left} or {@code right} but
	 * must not overlap them otherwise
	 * @param left address of the left operands, those of the lower rank
	 * @param right address of the right operands
	 * @param count number of elements in each block
	 */
	public void reduce(DataType type, ReduceOp op, long target, long left, long right, long count) {
		kernel(type, op).combine(target, left, right, count * type.bytes());
	}

	/**
	 * Like {@link #reduce}, but stores the result in two places in one pass over the
	 * operands.
	 * @param secondTarget address of the second copy; must not overlap the first, and may
	 * equal {@code left} or {@code right}
	 */
	public void reduceToBoth(DataType type, ReduceOp op, long target, long secondTarget, long left, long right,
			long count) {
		Kernel kernel = kernel(type, op);
		long bytes = count * type.bytes();
		for (long i = 0; i < bytes; i += BLOCK_BYTES) {
			long blockBytes = Math.min(BLOCK_BYTES, bytes - i);
			kernel.combine(target + i, left + i, right + i, blockBytes);
			NativeMemory.copy(target + i, secondTarget + i, blockBytes);
		}
	}

	/**
	 * Completes a reduction once all operands are combined: divides an average by the
	 * world size, integers towards zero. Does nothing for other operators.
	 * @param target address of the elements
	 * @param count number of elements
	 * @param worldSize number of operands that were combined
	 */
	public void finish(DataType type, ReduceOp op, long target, long count, int worldSize) {
		if (op == ReduceOp.AVERAGE) {
			this.quotients[type.ordinal()].divide(target, count * type.bytes(), worldSize);
		}
	}

	/**
	 * Triggers compilation of the loops of a type and an operator, so that the first
	 * collective does not wait for the compiler. Returns when they are compiled or the
	 * limit has passed. Yields to other threads meanwhile, since the compiler needs
	 * processor time.
	 */
	public void warmUp(DataType type, ReduceOp op, Duration limit) {
		new WarmUp(this, System::nanoTime).run(type, op, limit);
	}

	private Kernel kernel(DataType type, ReduceOp op) {
		Kernel kernel = this.kernels[type.ordinal()][op.ordinal()];
		if (kernel == null) {
			throw new IllegalArgumentException(op + " needs an integer type, got " + type);
		}
		return kernel;
	}

}
