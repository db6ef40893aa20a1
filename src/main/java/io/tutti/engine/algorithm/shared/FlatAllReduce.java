package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * All-reduce in one step: each rank posts its operand, reads all operands and combines
 * them itself, in rank order. Each rank reads {@code N} times the buffer, which is cheap
 * for small buffers.
 */
final class FlatAllReduce implements Algorithm {

	private final int worldSize;

	private final CallSlots slots;

	private final ReductionKernels kernels;

	FlatAllReduce(int worldSize, CallSlots slots, ReductionKernels kernels) {
		this.worldSize = worldSize;
		this.slots = slots;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		long target = call.receiveAddress();
		this.slots.post(call.sendAddress(), bytes);
		this.slots.awaitAll();
		this.kernels.reduce(call.type(), call.op(), target, this.slots.operand(0, bytes), this.slots.operand(1, bytes),
				call.count());
		for (int rank = 2; rank < this.worldSize; rank++) {
			this.kernels.reduce(call.type(), call.op(), target, target, this.slots.operand(rank, bytes), call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

}
