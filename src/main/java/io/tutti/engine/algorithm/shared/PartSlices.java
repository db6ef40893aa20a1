package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Chunks of the parts that ranks exchange. If a send buffer holds one part for each rank,
 * a chunk is a slice of every part, so that each rank can read its own slices as soon as
 * they are staged. Otherwise it is a slice of the one part, which every rank reads.
 */
final class PartSlices {

	private final int rank;

	private final int worldSize;

	private final ChunkPipeline pipeline;

	/** Whether the send buffer holds a part for each rank. */
	private final boolean partPerRank;

	private long sliceBytes;

	PartSlices(int rank, int worldSize, ChunkPipeline pipeline, boolean partPerRank) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.pipeline = pipeline;
		this.partPerRank = partPerRank;
	}

	/** As {@link LargeCollective#divide}. */
	long divide(Call call) {
		int slices = this.partPerRank ? this.worldSize : 1;
		long slotBytes = LargeAlgorithm.slotBytes(call.bytes() * slices, slices);
		this.sliceBytes = LargeAlgorithm.sliceBytes(slotBytes, slices);
		return slotBytes;
	}

	/** As {@link LargeCollective#chunks}. */
	long chunks(Call call) {
		return (call.bytes() + this.sliceBytes - 1) / this.sliceBytes;
	}

	/** Stages the slices for the other ranks. */
	void put(Call call, long chunk) {
		long slot = this.pipeline.slot(this.rank, chunk);
		if (!this.partPerRank) {
			NativeMemory.copy(source(call, this.rank, chunk), slot, length(call, chunk));
			return;
		}
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(source(call, peer, chunk), slot + peer * this.sliceBytes, length(call, chunk));
		}
	}

	/** Address of the slice that a peer has staged for this rank. */
	long staged(int peer, long chunk) {
		return this.pipeline.slot(peer, chunk) + (this.partPerRank ? this.rank * this.sliceBytes : 0);
	}

	/** Address of the slice for a peer in the send buffer. */
	long source(Call call, int peer, long chunk) {
		return call.sendAddress() + part(call, peer) + start(chunk);
	}

	/** Offset of the part for a peer in a send buffer. */
	long part(Call call, int peer) {
		return this.partPerRank ? peer * call.bytes() : 0;
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
