package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Reduce in one step: each rank posts its operand, and the root combines them, in rank
 * order. The other ranks do not wait.
 */
final class FlatReduce implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots slots;

	private final ReductionKernels kernels;

	FlatReduce(int rank, int worldSize, CallSlots slots, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.slots = slots;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		this.slots.post(call.sendAddress(), bytes);
		if (this.rank != call.root()) {
			return;
		}
		this.slots.awaitAll();
		long target = call.receiveAddress();
		this.kernels.reduce(call.type(), call.op(), target, this.slots.operand(0, bytes), this.slots.operand(1, bytes),
				call.count());
		for (int peer = 2; peer < this.worldSize; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target, this.slots.operand(peer, bytes), call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

}
