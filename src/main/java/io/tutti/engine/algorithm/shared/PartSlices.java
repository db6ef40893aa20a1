package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Chunks of a send buffer that holds one part per rank: a chunk is a slice of every part,
 * so that each rank can read its own slices as soon as they are staged.
 */
final class PartSlices {

	private final int rank;

	private final int worldSize;

	private final ChunkPipeline pipeline;

	private long sliceBytes;

	PartSlices(int rank, int worldSize, ChunkPipeline pipeline) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.pipeline = pipeline;
	}

	/** Passes all parts of a call that has been posted through the pipeline. */
	void run(Call call, PipelinePass pass, PipelinePass.Work work) {
		long slotBytes = PipelinePass.slotBytes(call.bytes() * this.worldSize);
		this.sliceBytes = PipelinePass.sliceBytes(slotBytes, this.worldSize);
		pass.run(call, slotBytes, (call.bytes() + this.sliceBytes - 1) / this.sliceBytes, work);
	}

	/** Stages the slices for the other ranks. */
	void put(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(call.sendAddress() + offset(call, peer, chunk),
					this.pipeline.slot(this.rank, chunk) + peer * this.sliceBytes, length(call, chunk));
		}
	}

	/** Address of the slice that a peer has staged for this rank. */
	long staged(int peer, long chunk) {
		return this.pipeline.slot(peer, chunk) + this.rank * this.sliceBytes;
	}

	/** Offset of a slice in a buffer that holds a part for each peer. */
	long offset(Call call, int peer, long chunk) {
		return peer * call.bytes() + start(chunk);
	}

	/** Offset of a slice in its part. */
	long start(long chunk) {
		return chunk * this.sliceBytes;
	}

	/** Bytes of a slice; the last one may be short. */
	long length(Call call, long chunk) {
		return Math.min(this.sliceBytes, call.bytes() - start(chunk));
	}

}
