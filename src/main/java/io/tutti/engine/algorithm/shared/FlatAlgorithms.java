package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Every collective in one step, for operands that fit into the call slots. A rank posts
 * its operand and reads those that its result needs out of the slots of the other ranks.
 * A rank without a result does not wait. Reductions are computed by each rank that needs
 * them, in rank order, so a rank reads up to {@code N} times the buffer, which is cheap
 * for small buffers.
 */
record FlatAlgorithms(int rank, int worldSize, CallSlots slots, ReductionKernels kernels) {

	/**
	 * The algorithm of a collective. One object for each keeps the compiler from inlining
	 * all of them into one call.
	 */
	Algorithm of(Collective collective) {
		return switch (collective) {
			case ALL_REDUCE -> (call) -> combine(call, call.bytes(), 0, true);
			case REDUCE -> (call) -> combine(call, call.bytes(), 0, isRoot(call));
			case REDUCE_SCATTER -> (call) -> combine(call, parts(call), part(call), true);
			case ALL_GATHER -> (call) -> collect(call, call.bytes(), 0, true);
			case GATHER -> (call) -> collect(call, call.bytes(), 0, isRoot(call));
			case ALL_TO_ALL -> (call) -> collect(call, parts(call), part(call), true);
			case BROADCAST -> (call) -> distribute(call, call.bytes(), 0);
			case SCATTER -> (call) -> distribute(call, parts(call), part(call));
			case SCAN, EXCLUSIVE_SCAN -> this::scan;
			case BARRIER -> (call) -> {
				this.slots.post();
				this.slots.awaitAll();
			};
		};
	}

	private boolean isRoot(Call call) {
		return this.rank == call.root();
	}

	/** Bytes of an operand that holds a part for each rank. */
	private long parts(Call call) {
		return call.bytes() * this.worldSize;
	}

	/** Offset of this rank's part. */
	private long part(Call call) {
		return call.bytes() * this.rank;
	}

	/**
	 * Posts an operand and combines a part of all operands.
	 * @param posted bytes of each operand
	 * @param offset offset of the part
	 * @param result whether this rank has a result
	 */
	private void combine(Call call, long posted, long offset, boolean result) {
		this.slots.post(call.sendAddress(), posted);
		if (!result) {
			return;
		}
		this.slots.awaitAll();
		call.requireOpenBuffers();
		long target = call.receiveAddress();
		this.kernels.reduce(call.type(), call.op(), target, operand(call, 0, posted) + offset,
				operand(call, 1, posted) + offset, call.count());
		for (int peer = 2; peer < this.worldSize; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target,
					lateOperand(call, peer, posted, offset) + offset, call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

	/**
	 * Address of a rank's operand. This rank reads its own where the caller has it: the
	 * slot's cache line may be at the core of a rank that has read it.
	 */
	private long operand(Call call, int peer, long posted) {
		return (peer == this.rank) ? call.sendAddress() : this.slots.operand(peer, posted);
	}

	/**
	 * As {@link #operand} once the result has been written to, which may be in the place
	 * of this rank's part.
	 */
	private long lateOperand(Call call, int peer, long posted, long offset) {
		return (call.sendAddress() + offset == call.receiveAddress()) ? this.slots.operand(peer, posted)
				: operand(call, peer, posted);
	}

	/** Posts an operand and copies a part of every operand, as {@link #combine}. */
	private void collect(Call call, long posted, long offset, boolean result) {
		this.slots.post(call.sendAddress(), posted);
		if (!result) {
			return;
		}
		this.slots.awaitAll();
		call.requireOpenBuffers();
		for (int peer = 0; peer < this.worldSize; peer++) {
			long source = operand(call, peer, posted) + offset;
			long target = call.receiveAddress() + peer * call.bytes();
			if (peer == this.rank) {
				NativeMemory.copyOwn(source, target, call.bytes());
			}
			else {
				NativeMemory.copy(source, target, call.bytes());
			}
		}
	}

	/** Posts the root's operand, of which each rank copies a part. */
	private void distribute(Call call, long posted, long offset) {
		if (isRoot(call)) {
			this.slots.post(call.sendAddress(), posted);
			NativeMemory.copy(call.sendAddress() + offset, call.receiveAddress(), call.bytes());
			return;
		}
		this.slots.post();
		this.slots.await(call.root());
		call.requireOpenBuffers();
		NativeMemory.copy(this.slots.operand(call.root(), posted) + offset, call.receiveAddress(), call.bytes());
	}

	private void scan(Call call) {
		long bytes = call.bytes();
		long target = call.receiveAddress();
		this.slots.post(call.sendAddress(), bytes);
		for (int peer = 0; peer < this.rank; peer++) {
			this.slots.await(peer);
		}
		call.requireOpenBuffers();
		int operands = (call.collective() == Collective.SCAN) ? this.rank + 1 : this.rank;
		if (operands > 0) {
			NativeMemory.copy(operand(call, 0, bytes), target, bytes);
		}
		for (int peer = 1; peer < operands; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target, lateOperand(call, peer, bytes, 0),
					call.count());
		}
	}

}
