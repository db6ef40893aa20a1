package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * All-reduce in one step: each rank posts its operand, reads everyone's, and combines
 * them all by itself, in rank order. Each rank reads {@code N} times the buffer, which is
 * cheap as long as it is small.
 */
final class FlatAllReduce implements Algorithm {

	private final int worldSize;

	private final CallSlots board;

	private final ReductionKernels kernels;

	FlatAllReduce(int worldSize, CallSlots board, ReductionKernels kernels) {
		this.worldSize = worldSize;
		this.board = board;
		this.kernels = kernels;
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		long target = call.receiveAddress();
		this.board.post(call.sendAddress(), bytes);
		this.board.awaitAll();
		this.kernels.reduce(call.type(), call.op(), target, this.board.operand(0, bytes), this.board.operand(1, bytes),
				call.count());
		for (int rank = 2; rank < this.worldSize; rank++) {
			this.kernels.reduce(call.type(), call.op(), target, target, this.board.operand(rank, bytes), call.count());
		}
		this.kernels.finish(call.type(), call.op(), target, call.count(), this.worldSize);
	}

}
