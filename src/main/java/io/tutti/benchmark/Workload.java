package io.tutti.benchmark;

import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

/**
 * One operation on buffers of one size: calls it and checks its results.
 */
final class Workload {

	/**
	 * The largest integer that every type can represent, and how many ranks have operands
	 * other than zero in a sum, which keeps it within that.
	 */
	private static final int LARGEST = Byte.MAX_VALUE;

	/** A prime, so that misplaced elements have wrong values. */
	private static final int VARIETY = 97;

	/** Every byte of it; no result has elements of such bytes: -1, 255 or no number. */
	private static final byte POISON = -1;

	/** Ranks with operands other than one in a product, which keeps it below 2⁷. */
	private static final int FACTORS = 12;

	private final ProcessGroup group;

	private final Operation operation;

	private final DataType type;

	private final ReduceOp op;

	private final MemorySegment send;

	private final MemorySegment receive;

	private final long count;

	/** Whether the operation adds the operands of the ranks. */
	private final boolean adds;

	/** Operands are 1 to this value, so that every result is exact in every type. */
	private final int largestOperand;

	Workload(ProcessGroup group, Operation operation, DataType type, ReduceOp op, long bytes, Buffers buffers) {
		this.group = group;
		this.operation = operation;
		this.type = type;
		this.op = op;
		long unit = (long) type.bytes() * (partitioned() ? group.worldSize() : 1);
		long whole = (operation == Operation.BARRIER) ? 0 : Math.max(unit, bytes / unit * unit);
		long part = whole / group.worldSize();
		this.count = whole / type.bytes();
		this.adds = operation.reduces() && (op == ReduceOp.SUM || op == ReduceOp.AVERAGE);
		this.largestOperand = largestOperand();
		this.send = buffers.send(switch (operation) {
			case ALL_REDUCE, REDUCE, BROADCAST, REDUCE_SCATTER, SCATTER, ALL_TO_ALL, BARRIER, SEND_RECEIVE -> whole;
			case ALL_GATHER, GATHER -> part;
		});
		this.receive = switch (operation) {
			case ALL_REDUCE, BROADCAST, BARRIER -> this.send;
			case REDUCE, ALL_GATHER, GATHER, ALL_TO_ALL, SEND_RECEIVE -> buffers.receive(whole);
			case REDUCE_SCATTER, SCATTER -> buffers.receive(part);
		};
	}

	/** Whether the full buffer is divided into one part per rank. */
	private boolean partitioned() {
		return switch (this.operation) {
			case ALL_REDUCE, REDUCE, BROADCAST, BARRIER, SEND_RECEIVE -> false;
			case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL -> true;
		};
	}

	Operation operation() {
		return this.operation;
	}

	String transport() {
		return this.group.transport();
	}

	/** Size of the full buffer in bytes, rounded to whole elements for every rank. */
	long bytes() {
		return this.count * this.type.bytes();
	}

	/** Number of elements in the full buffer. */
	long count() {
		return this.count;
	}

	/**
	 * Calls the operation once. The root rotates over all ranks, so that no rank runs
	 * ahead.
	 */
	void call(int iteration) {
		int root = root(iteration);
		switch (this.operation) {
			case ALL_REDUCE -> this.group.allReduce(this.send, this.type, this.op);
			case REDUCE -> this.group.reduce(this.send, this.receive, this.type, this.op, root);
			case BROADCAST -> this.group.broadcast(this.send, this.type, root);
			case ALL_GATHER -> this.group.allGather(this.send, this.receive, this.type);
			case REDUCE_SCATTER -> this.group.reduceScatter(this.send, this.receive, this.type, this.op);
			case GATHER -> this.group.gather(this.send, this.receive, this.type, root);
			case SCATTER -> this.group.scatter(this.send, this.receive, this.type, root);
			case ALL_TO_ALL -> this.group.allToAll(this.send, this.receive, this.type);
			case BARRIER -> this.group.barrier();
			case SEND_RECEIVE ->
				this.group.sendReceive(this.send, neighbour(1), this.receive, neighbour(-1), this.type, 0);
		}
	}

	private int root(int iteration) {
		return iteration % this.group.worldSize();
	}

	/**
	 * Calls the operation on known operands, with every rank as the root if it has one,
	 * and returns the number of wrong elements. Leaves the operands where the operation
	 * does not overwrite them, and zeros elsewhere, so that thousands of calls do not
	 * overflow.
	 */
	long check() {
		long wrong = 0;
		int calls = this.operation.isRooted() ? this.group.worldSize() : 1;
		for (int iteration = 0; iteration < calls; iteration++) {
			if (iteration == 0 || inPlace()) {
				writeOperands();
			}
			poison();
			call(iteration);
			wrong += (this.group.rank() == root(iteration) || !onRootOnly()) ? wrongAfter(iteration) : 0;
		}
		if (inPlace()) {
			this.send.fill((byte) 0);
		}
		return wrong;
	}

	private void writeOperands() {
		Numbers numbers = new Numbers(this.type);
		for (long i = 0; i < this.send.byteSize() / this.type.bytes(); i++) {
			numbers.put(this.send, i, operand(this.group.rank(), i));
		}
	}

	/** Whether results replace the operands. */
	boolean inPlace() {
		return this.receive == this.send;
	}

	/**
	 * Overwrites earlier results, so that elements that a call does not write are wrong;
	 * not in place, where that would destroy the operands.
	 */
	void poison() {
		if (!inPlace()) {
			this.receive.fill(POISON);
		}
	}

	/**
	 * Number of wrong elements in the receive buffer after calls on the operands. A rank
	 * that receives as the root only must have been the root since {@link #poison()}.
	 * @param iteration the last call
	 */
	long wrongAfter(int iteration) {
		Numbers numbers = new Numbers(this.type);
		long wrong = 0;
		for (long i = 0; i < this.receive.byteSize() / this.type.bytes(); i++) {
			wrong += (numbers.get(this.receive, i) != expected(root(iteration), i)) ? 1 : 0;
		}
		return wrong;
	}

	private boolean onRootOnly() {
		return this.operation == Operation.REDUCE || this.operation == Operation.GATHER;
	}

	/** Expected element of this rank's result. */
	private double expected(int root, long index) {
		int rank = this.group.rank();
		long part = Math.max(1, this.count / this.group.worldSize());
		return switch (this.operation) {
			case ALL_REDUCE, REDUCE -> reduced(this.group.worldSize(), index);
			case BROADCAST -> operand(root, index);
			case ALL_GATHER, GATHER -> operand((int) (index / part), index % part);
			case REDUCE_SCATTER -> reduced(this.group.worldSize(), rank * part + index);
			case SCATTER -> operand(root, rank * part + index);
			case ALL_TO_ALL -> operand((int) (index / part), rank * part + index % part);
			case BARRIER -> 0;
			case SEND_RECEIVE -> operand(neighbour(-1), index);
		};
	}

	private int neighbour(int distance) {
		return Math.floorMod(this.group.rank() + distance, this.group.worldSize());
	}

	private int largestOperand() {
		if (this.adds) {
			return Math.clamp(LARGEST / this.group.worldSize(), 1, VARIETY);
		}
		return (this.operation.reduces() && this.op == ReduceOp.PRODUCT) ? 2 : VARIETY;
	}

	/** Operand of a rank at an index; differs from its neighbours' operands. */
	private int operand(int rank, long index) {
		if (this.op == ReduceOp.PRODUCT && rank >= FACTORS) {
			return 1;
		}
		if (this.adds && rank >= LARGEST) {
			return 0;
		}
		return 1 + (int) ((31L * rank + 7 * index) % this.largestOperand);
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
				case BITWISE_AND -> (long) result & operand;
				case BITWISE_OR -> (long) result | operand;
				case BITWISE_XOR -> (long) result ^ operand;
				case LOGICAL_AND -> (result != 0 && operand != 0) ? 1 : 0;
				case LOGICAL_OR -> (result != 0 || operand != 0) ? 1 : 0;
				case LOGICAL_XOR -> (result != 0 ^ operand != 0) ? 1 : 0;
			};
		}
		return (this.op == ReduceOp.AVERAGE) ? new Numbers(this.type).quotient(result, ranks) : result;
	}

}
