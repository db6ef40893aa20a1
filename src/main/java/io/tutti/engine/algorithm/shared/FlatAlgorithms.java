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
final class FlatAlgorithms {

	private final int rank;

	private final int worldSize;

	private final CallSlots slots;

	private final ReductionKernels kernels;

	FlatAlgorithms(int rank, int worldSize, CallSlots slots, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.slots = slots;
		this.kernels = kernels;
	}

	/**
	 * The algorithm of a collective. One object for each keeps the compiler from inlining
	 * all of them into one call.
	 */
	Algorithm of(Collective collective) {
		return switch (collective) {
			case ALL_REDUCE -> this::allReduce;
			case REDUCE -> this::reduce;
			case BROADCAST -> this::broadcast;
			case ALL_GATHER -> this::allGather;
			case REDUCE_SCATTER -> this::reduceScatter;
			case GATHER -> this::gather;
			case SCATTER -> this::scatter;
			case ALL_TO_ALL -> this::allToAll;
			case SCAN, EXCLUSIVE_SCAN -> this::scan;
			case BARRIER -> (call) -> {
				this.slots.post();
				this.slots.awaitAll();
			};
		};
	}

	private void allReduce(Call call) {
		this.slots.post(call.sendAddress(), call.bytes());
		this.slots.awaitAll();
		combineAll(call, call.bytes(), 0);
	}

	private void reduce(Call call) {
		this.slots.post(call.sendAddress(), call.bytes());
		if (this.rank == call.root()) {
			this.slots.awaitAll();
			combineAll(call, call.bytes(), 0);
		}
	}

	private void reduceScatter(Call call) {
		long whole = call.bytes() * this.worldSize;
		this.slots.post(call.sendAddress(), whole);
		this.slots.awaitAll();
		combineAll(call, whole, this.rank * call.bytes());
	}

	/**
	 * Combines a part of all operands.
	 * @param posted bytes of each operand
	 * @param offset offset of the part
	 */
	private void combineAll(Call call, long posted, long offset) {
		long target = call.receiveAddress();
		this.kernels.reduce(call.type(), call.op(), target, this.slots.operand(0, posted) + offset,
				this.slots.operand(1, posted) + offset, call.count());
		for (int peer = 2; peer < this.worldSize; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target, this.slots.operand(peer, posted) + offset,
					call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

	private void scan(Call call) {
		long bytes = call.bytes();
		long target = call.receiveAddress();
		this.slots.post(call.sendAddress(), bytes);
		for (int peer = 0; peer < this.rank; peer++) {
			this.slots.await(peer);
		}
		int operands = (call.collective() == Collective.SCAN) ? this.rank + 1 : this.rank;
		if (operands > 0) {
			NativeMemory.copy(this.slots.operand(0, bytes), target, bytes);
		}
		for (int peer = 1; peer < operands; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target, this.slots.operand(peer, bytes), call.count());
		}
	}

	private void broadcast(Call call) {
		if (this.rank == call.root()) {
			this.slots.post(call.sendAddress(), call.bytes());
			return;
		}
		this.slots.post();
		this.slots.await(call.root());
		NativeMemory.copy(this.slots.operand(call.root(), call.bytes()), call.receiveAddress(), call.bytes());
	}

	private void allGather(Call call) {
		this.slots.post(call.sendAddress(), call.bytes());
		this.slots.awaitAll();
		copyAll(call, call.bytes(), 0);
	}

	private void gather(Call call) {
		this.slots.post(call.sendAddress(), call.bytes());
		if (this.rank == call.root()) {
			this.slots.awaitAll();
			copyAll(call, call.bytes(), 0);
		}
	}

	private void allToAll(Call call) {
		long whole = call.bytes() * this.worldSize;
		this.slots.post(call.sendAddress(), whole);
		this.slots.awaitAll();
		copyAll(call, whole, this.rank * call.bytes());
	}

	/** Copies a part of every rank's operand, as {@link #combineAll}. */
	private void copyAll(Call call, long posted, long offset) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			NativeMemory.copy(this.slots.operand(peer, posted) + offset, call.receiveAddress() + peer * call.bytes(),
					call.bytes());
		}
	}

	private void scatter(Call call) {
		long part = call.bytes();
		long whole = part * this.worldSize;
		if (this.rank == call.root()) {
			this.slots.post(call.sendAddress(), whole);
		}
		else {
			this.slots.post();
			this.slots.await(call.root());
		}
		NativeMemory.copy(this.slots.operand(call.root(), whole) + this.rank * part, call.receiveAddress(), part);
	}

}
