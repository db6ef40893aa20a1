package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Reduce in one step: each rank posts its operand, and the root combines them, in rank
 * order. The others wait for nobody.
 */
final class FlatReduce implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots board;

	private final ReductionKernels kernels;

	FlatReduce(int rank, int worldSize, CallSlots board, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.board = board;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		this.board.post(call.sendAddress(), bytes);
		if (this.rank != call.root()) {
			return;
		}
		this.board.awaitAll();
		long target = call.receiveAddress();
		this.kernels.reduce(call.type(), call.op(), target, this.board.operand(0, bytes), this.board.operand(1, bytes),
				call.count());
		for (int peer = 2; peer < this.worldSize; peer++) {
			this.kernels.reduce(call.type(), call.op(), target, target, this.board.operand(peer, bytes), call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

}
