package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

/**
 * One rank's part in one call: buffers with known operands, and their expected content
 * after the call, computed from all ranks' operands by one thread.
 */
final class Trial {

	/** Allocates the buffers. */
	interface Memory {

		MemorySegment allocate(long bytes);

	}

	private static final int GUARD_BYTES = 64;

	private static final byte GUARD = 0x5a;

	private final ProcessGroup group;

	private final CallSpec spec;

	private final int rank;

	private final int worldSize;

	/**
	 * Start offset of each rank's part, followed by the end of the last one, for uneven
	 * parts.
	 */
	private final long[] starts;

	/** Elements received from each rank in an all-to-all. */
	private final long[] incoming;

	/** Start offset of this rank's part in each rank's buffer of an all-to-all. */
	private final int[] origins;

	private final MemorySegment guardedReceive;

	private final MemorySegment send;

	private final MemorySegment receive;

	Trial(ProcessGroup group, CallSpec spec, Memory memory) {
		this.group = group;
		this.spec = spec;
		this.rank = group.rank();
		this.worldSize = group.worldSize();
		this.starts = new long[this.worldSize + 1];
		for (int i = 0; i < this.worldSize; i++) {
			this.starts[i + 1] = this.starts[i] + spec.part(i);
		}
		this.incoming = counts(false);
		this.origins = new int[this.worldSize];
		for (int from = 0; from < this.worldSize; from++) {
			for (int to = 0; to < this.rank; to++) {
				this.origins[from] += exchange(from, to);
			}
		}
		long receiveBytes = receiveCount() * spec.type().bytes();
		this.guardedReceive = memory.allocate(receiveBytes + GUARD_BYTES);
		this.guardedReceive.fill(GUARD);
		this.receive = this.guardedReceive.asSlice(0, receiveBytes);
		this.send = inPlace() ? this.receive : memory.allocate(Math.max(1, sendCount() * spec.type().bytes()))
			.asSlice(0, sendCount() * spec.type().bytes());
		for (int i = 0; i < sendCount(); i++) {
			Elements.put(this.send, spec.type(), i, operand(this.rank, i));
		}
	}

	void run() {
		DataType type = this.spec.type();
		ReduceOp op = this.spec.op();
		int root = this.spec.root();
		switch (this.spec.collective()) {
			case ALL_REDUCE -> this.group.allReduce(this.receive, type, op);
			case REDUCE -> this.group.reduce(this.send, this.receive, type, op, root);
			case BROADCAST -> this.group.broadcast(this.receive, type, root);
			case ALL_GATHER -> {
				if (this.spec.uneven()) {
					this.group.allGather(this.send, this.receive, this.spec.parts(this.worldSize), type);
				}
				else {
					this.group.allGather(this.send, this.receive, type);
				}
			}
			case REDUCE_SCATTER -> {
				if (this.spec.uneven()) {
					this.group.reduceScatter(this.send, this.receive, this.spec.parts(this.worldSize), type, op);
				}
				else {
					this.group.reduceScatter(this.send, this.receive, type, op);
				}
			}
			case GATHER -> this.group.gather(this.send, this.receive, type, root);
			case SCATTER -> this.group.scatter(this.send, this.receive, type, root);
			case ALL_TO_ALL -> {
				if (this.spec.uneven()) {
					this.group.allToAll(this.send, counts(true), this.receive, counts(false), type);
				}
				else {
					this.group.allToAll(this.send, this.receive, type);
				}
			}
			case BARRIER -> this.group.barrier();
		}
	}

	CompletableFuture<Void> runAsync() {
		DataType type = this.spec.type();
		ReduceOp op = this.spec.op();
		int root = this.spec.root();
		return switch (this.spec.collective()) {
			case ALL_REDUCE -> this.group.allReduceAsync(this.receive, type, op);
			case REDUCE -> this.group.reduceAsync(this.send, this.receive, type, op, root);
			case BROADCAST -> this.group.broadcastAsync(this.receive, type, root);
			case ALL_GATHER -> this.spec.uneven()
					? this.group.allGatherAsync(this.send, this.receive, this.spec.parts(this.worldSize), type)
					: this.group.allGatherAsync(this.send, this.receive, type);
			case REDUCE_SCATTER -> this.spec.uneven()
					? this.group.reduceScatterAsync(this.send, this.receive, this.spec.parts(this.worldSize), type, op)
					: this.group.reduceScatterAsync(this.send, this.receive, type, op);
			case GATHER -> this.group.gatherAsync(this.send, this.receive, type, root);
			case SCATTER -> this.group.scatterAsync(this.send, this.receive, type, root);
			case ALL_TO_ALL -> this.spec.uneven()
					? this.group.allToAllAsync(this.send, counts(true), this.receive, counts(false), type)
					: this.group.allToAllAsync(this.send, this.receive, type);
			case BARRIER -> this.group.barrierAsync();
		};
	}

	/**
	 * Checks that the result equals the reference, the operand is unchanged, and nothing
	 * is written past the end.
	 */
	void check() {
		boolean result = this.rank == this.spec.root()
				|| (this.spec.collective() != Collective.REDUCE && this.spec.collective() != Collective.GATHER);
		for (int i = 0; result && i < receiveCount(); i++) {
			require("result", i, Elements.get(this.receive, this.spec.type(), i), expected(i));
		}
		for (int i = 0; !inPlace() && i < sendCount(); i++) {
			require("operand", i, Elements.get(this.send, this.spec.type(), i), operand(this.rank, i));
		}
		for (int i = 0; i < GUARD_BYTES; i++) {
			require("guard", i, this.guardedReceive.get(ValueLayout.JAVA_BYTE, this.receive.byteSize() + i), GUARD);
		}
	}

	private void require(String what, int index, long actual, long expected) {
		if (actual != expected) {
			throw new AssertionError(what + "[" + index + "] of " + this.spec + " on rank " + this.rank + " of "
					+ this.worldSize + ": expected " + expected + ", got " + actual);
		}
	}

	private boolean inPlace() {
		return this.spec.collective() == Collective.ALL_REDUCE || this.spec.collective() == Collective.BROADCAST;
	}

	private long operand(int rank, int index) {
		return switch (this.spec.collective()) {
			case ALL_REDUCE, REDUCE, REDUCE_SCATTER -> Operands.of(rank, index, this.spec.op());
			case BROADCAST, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL, BARRIER -> (rank * 31 + index * 7 + 1) % 101;
		};
	}

	private long sendCount() {
		return switch (this.spec.collective()) {
			case BARRIER -> 0;
			case ALL_REDUCE, REDUCE, BROADCAST, GATHER -> this.spec.count();
			case ALL_GATHER -> this.spec.uneven() ? this.spec.part(this.rank) : this.spec.count();
			case REDUCE_SCATTER ->
				this.spec.uneven() ? this.starts[this.worldSize] : (long) this.spec.count() * this.worldSize;
			case SCATTER -> (long) this.spec.count() * this.worldSize;
			case ALL_TO_ALL -> sum(counts(true));
		};
	}

	private long receiveCount() {
		return switch (this.spec.collective()) {
			case BARRIER -> 0;
			case ALL_REDUCE, REDUCE, BROADCAST, SCATTER -> this.spec.count();
			case ALL_GATHER ->
				this.spec.uneven() ? this.starts[this.worldSize] : (long) this.spec.count() * this.worldSize;
			case GATHER -> (long) this.spec.count() * this.worldSize;
			case REDUCE_SCATTER -> this.spec.uneven() ? this.spec.part(this.rank) : this.spec.count();
			case ALL_TO_ALL -> sum(counts(false));
		};
	}

	private long expected(int index) {
		int count = this.spec.count();
		return switch (this.spec.collective()) {
			case BARRIER -> 0;
			case ALL_REDUCE, REDUCE -> Operands.reduced(this.worldSize, index, this.spec.op());
			case BROADCAST -> operand(this.spec.root(), index);
			case GATHER -> operand(index / count, index % count);
			case SCATTER -> operand(this.spec.root(), this.rank * count + index);
			case ALL_GATHER -> {
				int owner = 0;
				while (this.spec.uneven() && index >= this.starts[owner + 1]) {
					owner++;
				}
				yield this.spec.uneven() ? operand(owner, index - (int) this.starts[owner])
						: operand(index / count, index % count);
			}
			case REDUCE_SCATTER -> Operands.reduced(this.worldSize,
					(this.spec.uneven() ? (int) this.starts[this.rank] : this.rank * count) + index, this.spec.op());
			case ALL_TO_ALL -> exchanged(index);
		};
	}

	private long exchanged(int index) {
		long[] come = this.incoming;
		int from = 0;
		long offset = index;
		while (offset >= come[from]) {
			offset -= come[from++];
		}
		return operand(from, (int) (this.origins[from] + offset));
	}

	private int exchange(int from, int to) {
		return this.spec.uneven() ? this.spec.part(from, to) : this.spec.count();
	}

	/** Elements sent to, or received from, each rank in an all-to-all. */
	private long[] counts(boolean going) {
		long[] counts = new long[this.worldSize];
		for (int peer = 0; peer < this.worldSize; peer++) {
			counts[peer] = going ? exchange(this.rank, peer) : exchange(peer, this.rank);
		}
		return counts;
	}

	private static long sum(long[] values) {
		return Arrays.stream(values).sum();
	}

}
