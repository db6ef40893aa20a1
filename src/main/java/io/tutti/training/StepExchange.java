package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.ReduceOp;

/**
 * The few numbers that all ranks add up beside their gradients: after each step the loss
 * and who wants to stop, so that all stop after the same one; after each epoch how many
 * test samples were told right.
 */
final class StepExchange implements AutoCloseable {

	private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE;

	private static final long NUMBERS = 2;

	private final ProcessGroup group;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment numbers = this.arena.allocate(NUMBERS * Double.BYTES, Double.BYTES);

	private long allReducedBytes;

	private long waitedNanos;

	StepExchange(ProcessGroup group) {
		this.group = group;
	}

	/** What all ranks together say of a step. */
	record Step(double lossSum, boolean stop) {
	}

	/** Adds up a step. A collective call. */
	Step addUp(double lossSum, boolean stop) {
		double[] sums = sum(lossSum, stop ? 1 : 0);
		return new Step(sums[0], sums[1] > 0);
	}

	/** Adds up counts, which are exact up to 2⁵³. A collective call. */
	long addUp(long count) {
		return (long) sum(count, 0)[0];
	}

	long allReducedBytes() {
		return this.allReducedBytes;
	}

	long waitedNanos() {
		return this.waitedNanos;
	}

	private double[] sum(double first, double second) {
		this.numbers.setAtIndex(DOUBLE, 0, first);
		this.numbers.setAtIndex(DOUBLE, 1, second);
		long start = System.nanoTime();
		this.group.allReduce(this.numbers, DataType.FLOAT64, ReduceOp.SUM);
		this.waitedNanos += System.nanoTime() - start;
		this.allReducedBytes += this.numbers.byteSize();
		return this.numbers.toArray(DOUBLE);
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
