package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntToLongFunction;

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

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int GUARD_BYTES = 64;

	private static final byte GUARD = 0x5a;

	private static final Repetition GUARDS = new Repetition(DataType.INT8, 4096, (index) -> GUARD);

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

	/** The larger buffer of a call in place, otherwise the receive buffer. */
	private final MemorySegment guarded;

	private final long guardOffset;

	private final MemorySegment send;

	private final MemorySegment receive;

	private final long sendCount;

	private final long receiveCount;

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
		if (spec.collective() == Collective.ALL_TO_ALL && spec.uneven()) {
			for (int from = 0; from < this.worldSize; from++) {
				for (int to = 0; to < this.rank; to++) {
					this.origins[from] += exchange(from, to);
				}
			}
		}
		this.sendCount = sendCount();
		this.receiveCount = receiveCount();
		long sendBytes = this.sendCount * spec.type().bytes();
		long receiveBytes = this.receiveCount * spec.type().bytes();
		this.guardOffset = partInSend() ? sendBytes : receiveBytes;
		this.guarded = memory.allocate(this.guardOffset + GUARD_BYTES);
		this.guarded.fill(GUARD);
		MemorySegment whole = this.guarded.asSlice(0, this.guardOffset);
		long offset = ownStart() * spec.type().bytes();
		this.receive = partInSend() ? whole.asSlice(offset, receiveBytes) : whole;
		this.send = partInSend() ? whole : partInReceive() ? whole.asSlice(offset, sendBytes)
				: inPlace() ? whole : memory.allocate(Math.max(1, sendBytes)).asSlice(0, sendBytes);
		operands(this.rank).fill(this.send, 0);
	}

	void run() {
		DataType type = this.spec.type();
		ReduceOp op = this.spec.op();
		int root = this.spec.root();
		if (this.spec.collective() == Collective.ALL_TO_ALL) {
			if (this.spec.uneven()) {
				this.group.allToAll(this.send, counts(true), this.receive, counts(false), type);
			}
			else {
				this.group.allToAll(this.send, this.receive, type);
			}
			return;
		}
		if (this.spec.uneven()) {
			AnyCollective.runUneven(this.group, this.spec.collective(), sent(), received(), type, op, root,
					this.spec.parts(this.worldSize), LIMIT);
		}
		else {
			AnyCollective.run(this.group, this.spec.collective(), sent(), received(), type, op, root, LIMIT);
		}
	}

	CompletableFuture<Void> runAsync() {
		DataType type = this.spec.type();
		ReduceOp op = this.spec.op();
		int root = this.spec.root();
		if (this.spec.collective() == Collective.ALL_TO_ALL) {
			return this.spec.uneven()
					? this.group.allToAllAsync(this.send, counts(true), this.receive, counts(false), type).toFuture()
					: this.group.allToAllAsync(this.send, this.receive, type).toFuture();
		}
		return this.spec.uneven()
				? AnyCollective.runUnevenAsync(this.group, this.spec.collective(), sent(), received(), type, op, root,
						this.spec.parts(this.worldSize), LIMIT)
				: AnyCollective.runAsync(this.group, this.spec.collective(), sent(), received(), type, op, root, LIMIT);
	}

	/**
	 * Checks that the result equals the reference, the operand is unchanged, and nothing
	 * is written past the end.
	 */
	void check() {
		if (!withoutResult() && (isRoot()
				|| (this.spec.collective() != Collective.REDUCE && this.spec.collective() != Collective.GATHER))) {
			requireResult();
		}
		if (!inPlace()) {
			long end = partInSend() ? ownStart() : this.sendCount;
			require("operand", this.send, 0, end, operands(this.rank), 0);
			long rest = partInSend() ? ownStart() + this.receiveCount : this.sendCount;
			require("operand", this.send, rest, this.sendCount - rest, operands(this.rank), rest);
		}
		requireGuard("guard", this.guarded.asSlice(this.guardOffset, GUARD_BYTES));
		if (withoutResult() && !this.spec.inPlace()) {
			requireGuard("unchanged", this.receive);
		}
	}

	private void requireResult() {
		switch (this.spec.collective()) {
			case BARRIER -> {
			}
			case ALL_REDUCE, REDUCE -> requireResult(0, this.receiveCount, reduced(this.worldSize), 0);
			case SCAN -> requireResult(0, this.receiveCount, reduced(this.rank + 1), 0);
			case EXCLUSIVE_SCAN -> requireResult(0, this.receiveCount, reduced(this.rank), 0);
			case REDUCE_SCATTER -> requireResult(0, this.receiveCount, reduced(this.worldSize), ownStart());
			case BROADCAST -> requireResult(0, this.receiveCount, operands(this.spec.root()), 0);
			case SCATTER -> requireResult(0, this.receiveCount, operands(this.spec.root()), ownStart());
			case ALL_GATHER, GATHER ->
				requireParts((from) -> this.spec.uneven() ? this.spec.part(from) : this.spec.count(), (from) -> 0);
			case ALL_TO_ALL -> requireParts((from) -> this.incoming[from],
					(from) -> this.spec.uneven() ? this.origins[from] : (long) this.spec.count() * this.rank);
		}
	}

	/** Each rank's operands from an index on, one after the other. */
	private void requireParts(IntToLongFunction count, IntToLongFunction first) {
		long offset = 0;
		for (int from = 0; from < this.worldSize; from++) {
			requireResult(offset, count.applyAsLong(from), operands(from), first.applyAsLong(from));
			offset += count.applyAsLong(from);
		}
		if (offset != this.receiveCount) {
			throw new IllegalStateException(offset + " of " + this.receiveCount + " elements are checked");
		}
	}

	private void requireResult(long offset, long count, Repetition expected, long first) {
		require("result", this.receive, offset, count, expected, first);
	}

	private void require(String what, MemorySegment buffer, long offset, long count, Repetition expected, long first) {
		DataType type = this.spec.type();
		long found = expected.mismatch(buffer.asSlice(offset * type.bytes(), count * type.bytes()), first);
		if (found >= 0) {
			fail(what, offset + found, Elements.get(buffer, type, offset + found), expected.get(first + found));
		}
	}

	private void requireGuard(String what, MemorySegment buffer) {
		long found = GUARDS.mismatch(buffer, 0);
		if (found >= 0) {
			fail(what, found, buffer.get(ValueLayout.JAVA_BYTE, found), GUARD);
		}
	}

	private void fail(String what, long index, long actual, long expected) {
		throw new AssertionError(what + "[" + index + "] of " + this.spec + " on rank " + this.rank + " of "
				+ this.worldSize + ": expected " + expected + ", got " + actual);
	}

	/** The send buffer that the API passes on: only the root's in a scatter. */
	private MemorySegment sent() {
		return (this.spec.collective() == Collective.SCATTER && !isRoot()) ? MemorySegment.NULL : this.send;
	}

	/**
	 * The receive buffer that the API passes on: only the root's in a gather or reduce.
	 */
	private MemorySegment received() {
		return ((this.spec.collective() == Collective.GATHER || this.spec.collective() == Collective.REDUCE)
				&& !isRoot()) ? MemorySegment.NULL : this.receive;
	}

	private boolean isRoot() {
		return this.rank == this.spec.root();
	}

	/** Rank 0 of an exclusive scan has no result; its receive buffer is unchanged. */
	private boolean withoutResult() {
		return this.spec.collective() == Collective.EXCLUSIVE_SCAN && this.rank == 0;
	}

	private boolean inPlace() {
		return this.spec.inPlace() && switch (this.spec.collective()) {
			case ALL_REDUCE, BROADCAST, SCAN, EXCLUSIVE_SCAN -> true;
			case REDUCE -> isRoot();
			case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, BARRIER -> false;
		};
	}

	private boolean partInReceive() {
		return this.spec.inPlace() && (this.spec.collective() == Collective.ALL_GATHER
				|| (this.spec.collective() == Collective.GATHER && isRoot()));
	}

	private boolean partInSend() {
		return this.spec.inPlace() && (this.spec.collective() == Collective.REDUCE_SCATTER
				|| (this.spec.collective() == Collective.SCATTER && isRoot()));
	}

	/**
	 * First element of this rank's part of a buffer that holds the parts of all ranks.
	 */
	private long ownStart() {
		return this.spec.uneven() ? this.starts[this.rank] : (long) this.spec.count() * this.rank;
	}

	private Repetition operands(int rank) {
		DataType type = this.spec.type();
		return this.spec.collective().reduces() ? Operands.of(type, this.spec.op(), rank) : Operands.moved(type, rank);
	}

	private Repetition reduced(int ranks) {
		return Operands.reduced(this.spec.type(), this.spec.op(), ranks);
	}

	private long sendCount() {
		return switch (this.spec.collective()) {
			case BARRIER -> 0;
			case ALL_REDUCE, REDUCE, BROADCAST, SCAN, EXCLUSIVE_SCAN -> this.spec.count();
			case ALL_GATHER, GATHER -> this.spec.uneven() ? this.spec.part(this.rank) : this.spec.count();
			case REDUCE_SCATTER, SCATTER ->
				this.spec.uneven() ? this.starts[this.worldSize] : (long) this.spec.count() * this.worldSize;
			case ALL_TO_ALL -> sum(counts(true));
		};
	}

	private long receiveCount() {
		return switch (this.spec.collective()) {
			case BARRIER -> 0;
			case ALL_REDUCE, REDUCE, BROADCAST, SCAN, EXCLUSIVE_SCAN -> this.spec.count();
			case ALL_GATHER, GATHER ->
				this.spec.uneven() ? this.starts[this.worldSize] : (long) this.spec.count() * this.worldSize;
			case REDUCE_SCATTER, SCATTER -> this.spec.uneven() ? this.spec.part(this.rank) : this.spec.count();
			case ALL_TO_ALL -> sum(counts(false));
		};
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
