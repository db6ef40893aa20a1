package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * All-gather of large buffers. Where the parts of all ranks are accessible in place, each
 * rank copies them once. Otherwise each rank stages its part chunk by chunk and copies
 * the chunks of all ranks as they arrive.
 */
final class SharedAllGather implements Algorithm, PipelinePass.Work {

	private final int rank;

	private final int worldSize;

	private final SymmetricBuffers buffers;

	private final ShmTransport transport;

	private final ChunkPipeline pipeline;

	private final PipelinePass pass;

	private long chunkBytes;

	SharedAllGather(int rank, int worldSize, ShmTransport transport) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.buffers = transport.buffers();
		this.pipeline = transport.pipeline();
		this.pass = new PipelinePass(worldSize, transport);
	}

	@Override
	public void run(Call call) {
		if (this.buffers.post(call)) {
			this.transport.slots().awaitAll();
			if (this.buffers.allReachable()) {
				gatherInPlace(call);
				return;
			}
		}
		this.chunkBytes = PipelinePass.slotBytes(call.bytes());
		this.pass.run(call, this.chunkBytes, (call.bytes() + this.chunkBytes - 1) / this.chunkBytes, this);
	}

	private void gatherInPlace(Call call) {
		for (int step = 0; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.buffers.address(peer), call.receiveAddress() + peer * call.bytes(), call.bytes());
		}
		this.buffers.finish();
		this.buffers.awaitFinished();
	}

	@Override
	public void put(Call call, long chunk) {
		long source = call.sendAddress() + chunk * this.chunkBytes;
		NativeMemory.copy(source, this.pipeline.slot(this.rank, chunk), length(call, chunk));
		NativeMemory.copy(source, target(call, this.rank, chunk), length(call, chunk));
	}

	@Override
	public void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.pipeline.slot(peer, chunk), target(call, peer, chunk), length(call, chunk));
		}
	}

	private long target(Call call, int peer, long chunk) {
		return call.receiveAddress() + peer * call.bytes() + chunk * this.chunkBytes;
	}

	private long length(Call call, long chunk) {
		return Math.min(this.chunkBytes, call.bytes() - chunk * this.chunkBytes);
	}

}
