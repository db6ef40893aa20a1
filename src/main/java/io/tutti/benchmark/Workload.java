package io.tutti.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.Collective;
import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.ReduceOp;

/**
 * One collective on buffers of one size: how to call it, and how to tell that it did what
 * it should.
 */
final class Workload implements AutoCloseable {

	private static final long ALIGNMENT = 4096;

	private final ProcessGroup group;

	private final Collective collective;

	private final DataType type;

	private final ReduceOp op;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment whole;

	private final MemorySegment part;

	private final long count;

	Workload(ProcessGroup group, Collective collective, DataType type, ReduceOp op, long bytes) {
		this.group = group;
		this.collective = collective;
		this.type = type;
		this.op = op;
		boolean cut = collective == Collective.ALL_GATHER;
		long unit = (long) type.bytes() * (cut ? group.worldSize() : 1);
		long rounded = (collective == Collective.BARRIER) ? 0 : Math.max(unit, bytes / unit * unit);
		this.count = rounded / type.bytes();
		this.whole = this.arena.allocate(Math.max(1, rounded), ALIGNMENT).asSlice(0, rounded);
		this.part = this.arena.allocate(Math.max(1, rounded / group.worldSize()), ALIGNMENT)
			.asSlice(0, cut ? rounded / group.worldSize() : 0);
	}

	/** Bytes of the full buffer, after rounding to whole elements for every rank. */
	long bytes() {
		return this.whole.byteSize();
	}

	/** Elements of the full buffer. */
	long count() {
		return this.count;
	}

	/** One call; broadcasts take turns at the root, so that none runs ahead. */
	void call(int iteration) {
		switch (this.collective) {
			case ALL_REDUCE -> this.group.allReduce(this.whole, this.type, this.op);
			case BROADCAST -> this.group.broadcast(this.whole, this.type, iteration % this.group.worldSize());
			case ALL_GATHER -> this.group.allGather(this.part, this.whole, this.type);
			case BARRIER -> this.group.barrier();
		}
	}

	/** Calls once on known operands and returns how many elements are wrong. */
	long check() {
		Numbers numbers = new Numbers(this.type);
		int ranks = this.group.worldSize();
		for (long i = 0; i < this.count; i++) {
			numbers.put(this.whole, i, operand(this.group.rank(), i));
		}
		long partCount = this.part.byteSize() / this.type.bytes();
		for (long i = 0; i < partCount; i++) {
			numbers.put(this.part, i, operand(this.group.rank(), i));
		}
		call(0);
		long wrong = 0;
		for (long i = 0; i < this.count; i++) {
			double expected = switch (this.collective) {
				case ALL_REDUCE -> reduced(ranks, i);
				case BROADCAST -> operand(0, i);
				case ALL_GATHER -> operand((int) (i / partCount), i % partCount);
				case BARRIER -> 0;
			};
			wrong += (numbers.get(this.whole, i) != expected) ? 1 : 0;
		}
		return wrong;
	}

	/** Puts harmless operands in, so that thousands of calls do not overflow. */
	void reset() {
		this.whole.fill((byte) 0);
		this.part.fill((byte) 0);
	}

	private static int operand(int rank, long index) {
		return rank % 2 + 1 + (int) (index & 1);
	}

	private double reduced(int ranks, long index) {
		double result = operand(0, index);
		for (int rank = 1; rank < ranks; rank++) {
			int operand = operand(rank, index);
			result = switch (this.op) {
				case SUM, AVERAGE -> result + operand;
				case PRODUCT -> result * operand;
				case MIN -> Math.min(result, operand);
				case MAX -> Math.max(result, operand);
			};
		}
		return (this.op == ReduceOp.AVERAGE) ? new Numbers(this.type).quotient(result, ranks) : result;
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
