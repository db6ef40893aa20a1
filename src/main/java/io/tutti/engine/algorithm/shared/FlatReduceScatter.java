package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Reduce-scatter in one step: each rank posts its whole operand and combines its own part
 * of all operands, in rank order.
 */
final class FlatReduceScatter implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots slots;

	private final ReductionKernels kernels;

	FlatReduceScatter(int rank, int worldSize, CallSlots slots, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.slots = slots;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
		this.slots.post(call.sendAddress(), call.bytes() * this.worldSize);
		this.slots.awaitAll();
		long target = call.receiveAddress();
		this.kernels.reduce(call.type(), call.op(), target, operand(call, 0), operand(call, 1), call.count());
		for (int peer = 2; peer < this.worldSize; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target, operand(call, peer), call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

	private long operand(Call call, int peer) {
		return this.slots.operand(peer, call.bytes() * this.worldSize) + this.rank * call.bytes();
	}

}
