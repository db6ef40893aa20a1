package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * Reduce-scatter of large buffers. Where the buffers of all ranks are accessible in
 * place, each rank reduces its part directly from them. Otherwise each rank stages a
 * slice of every part and reduces the slices of its own part from the slots of the
 * others. Operands are combined in rank order.
 */
final class SharedReduceScatter implements Algorithm, PipelinePass.Work {

	/** A block stays in the L1 cache between operands. */
	private static final long BLOCK_BYTES = 16 << 10;

	private final int rank;

	private final int worldSize;

	private final SymmetricBuffers buffers;

	private final ShmTransport transport;

	private final ChunkPipeline pipeline;

	private final PipelinePass pass;

	private final ReductionKernels kernels;

	private final Scratch scratch;

	private long sliceBytes;

	SharedReduceScatter(int rank, int worldSize, ShmTransport transport, ReductionKernels kernels, Scratch scratch) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.buffers = transport.buffers();
		this.pipeline = transport.stage();
		this.pass = new PipelinePass(worldSize, transport);
		this.kernels = kernels;
		this.scratch = scratch;
	}

	@Override
	public void run(Call call) {
		if (this.buffers.post(call)) {
			this.transport.board().awaitAll();
			if (this.buffers.allReachable()) {
				reduceInPlace(call);
				return;
			}
		}
		long slotBytes = ChunkSize.slotBytes(call.bytes() * this.worldSize);
		this.sliceBytes = ChunkSize.sliceBytes(slotBytes, this.worldSize);
		this.pass.run(call, slotBytes, (call.bytes() + this.sliceBytes - 1) / this.sliceBytes, this);
	}

	/** The receive buffer may be a part of the send buffer, so it is written last. */
	private void reduceInPlace(Call call) {
		int last = this.worldSize - 1;
		for (long done = 0; done < call.bytes(); done += BLOCK_BYTES) {
			long bytes = Math.min(BLOCK_BYTES, call.bytes() - done);
			long offset = this.rank * call.bytes() + done;
			long partial = this.scratch.address();
			long left = this.buffers.address(0) + offset;
			for (int peer = 1; peer < last; peer++) {
				reduce(call, partial, left, this.buffers.address(peer) + offset, bytes);
				left = partial;
			}
			reduce(call, call.receiveAddress() + done, left, this.buffers.address(last) + offset, bytes);
			finish(call, call.receiveAddress() + done, bytes);
		}
		this.buffers.finish();
		this.buffers.awaitFinished();
	}

	@Override
	public void put(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(call.sendAddress() + place(call, peer, chunk),
					this.pipeline.slot(this.rank, chunk) + peer * this.sliceBytes, length(call, chunk));
		}
	}

	@Override
	public void take(Call call, long chunk) {
		long bytes = length(call, chunk);
		long target = call.receiveAddress() + chunk * this.sliceBytes;
		int last = this.worldSize - 1;
		long left = operand(call, 0, chunk);
		for (int peer = 1; peer < last; peer++) {
			reduce(call, this.scratch.address(), left, operand(call, peer, chunk), bytes);
			left = this.scratch.address();
		}
		reduce(call, target, left, operand(call, last, chunk), bytes);
		finish(call, target, bytes);
	}

	/** Address of a peer's operand for this rank's part of a chunk. */
	private long operand(Call call, int peer, long chunk) {
		return (peer == this.rank) ? call.sendAddress() + place(call, peer, chunk)
				: this.pipeline.slot(peer, chunk) + this.rank * this.sliceBytes;
	}

	private void reduce(Call call, long target, long left, long right, long bytes) {
		this.kernels.reduce(call.type(), call.op(), target, left, right, bytes / call.type().bytes());
	}

	private void finish(Call call, long target, long bytes) {
		this.kernels.finish(call.type(), call.op(), target, bytes / call.type().bytes(), this.worldSize);
	}

	private long place(Call call, int peer, long chunk) {
		return peer * call.bytes() + chunk * this.sliceBytes;
	}

	private long length(Call call, long chunk) {
		return Math.min(this.sliceBytes, call.bytes() - chunk * this.sliceBytes);
	}

}
