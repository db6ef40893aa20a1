package io.tutti.engine.algorithm.shared;

import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * In-place all-reduce of buffers that every rank can access. Each rank reduces its share
 * of the elements from all buffers, in rank order, and stores the result to all buffers.
 * Each rank reads and writes {@code N} shares, one buffer's worth, whatever the number of
 * ranks.
 */
final class DirectAllReduce {

	/** A block stays in the L1 cache between operands. */
	private static final long BLOCK_BYTES = 16 << 10;

	/** Shares are aligned to cache lines. */
	private static final long ALIGNMENT = 64;

	private final int rank;

	private final int worldSize;

	private final SymmetricBuffers buffers;

	private final ReductionKernels kernels;

	DirectAllReduce(int rank, int worldSize, SymmetricBuffers buffers, ReductionKernels kernels) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.buffers = buffers;
		this.kernels = kernels;
	}

	/** Runs a call for which all ranks have arrived and posted accessible buffers. */
	void run(Call call) {
		long share = (call.bytes() / this.worldSize + ALIGNMENT) & -ALIGNMENT;
		long end = Math.min((this.rank + 1) * share, call.bytes());
		for (long offset = this.rank * share; offset < end; offset += BLOCK_BYTES) {
			reduce(call, offset, Math.min(BLOCK_BYTES, end - offset));
		}
	}

	private void reduce(Call call, long offset, long bytes) {
		long count = bytes / call.type().bytes();
		long result = this.buffers.address(0) + offset;
		long second = this.buffers.address(1) + offset;
		int last = this.worldSize - 1;
		for (int peer = 1; peer < last; peer++) {
			this.kernels.reduce(call.type(), call.op(), result, result, this.buffers.address(peer) + offset, count);
		}
		this.kernels.reduceToBoth(call.type(), call.op(), result, second, result, this.buffers.address(last) + offset,
				count);
		if (call.op() == ReduceOp.AVERAGE) {
			this.kernels.finish(call.type(), call.op(), result, count, this.worldSize);
			NativeMemory.copy(result, second, bytes);
		}
		for (int peer = 2; peer < this.worldSize; peer++) {
			NativeMemory.copy(result, this.buffers.address(peer) + offset, bytes);
		}
	}

}
