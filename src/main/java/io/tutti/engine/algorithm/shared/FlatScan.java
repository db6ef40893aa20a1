package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Inclusive and exclusive scan in one step: each rank posts its operand, reads those of
 * the ranks before it and combines them itself, in rank order.
 */
final class FlatScan implements Algorithm {

	private final int rank;

	private final CallSlots slots;

	private final ReductionKernels kernels;

	FlatScan(int rank, CallSlots slots, ReductionKernels kernels) {
		this.rank = rank;
		this.slots = slots;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
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

}
