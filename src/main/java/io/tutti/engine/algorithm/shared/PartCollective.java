package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * A collective of parts that ranks read out of each other's send buffers. If a send
 * buffer holds one part for each rank, a chunk is a slice of every part, so that each
 * rank can read its own slices as soon as they are staged. Otherwise it is a slice of the
 * one part, which every rank reads.
 */
abstract class PartCollective implements LargeCollective {

	final int rank;

	final int worldSize;

	final PeerBuffers buffers;

	final Collective collective;

	private final ChunkPipeline pipeline;

	/** Whether the send buffer holds a part for each rank. */
	private final boolean partPerRank;

	private long sliceBytes;

	PartCollective(int rank, int worldSize, ShmTransport transport, Collective collective) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.buffers = transport.buffers();
		this.collective = collective;
		this.pipeline = transport.pipeline();
		this.partPerRank = collective == Collective.REDUCE_SCATTER || collective == Collective.ALL_TO_ALL
				|| collective == Collective.SCATTER;
	}

	@Override
	public boolean post(Call call, boolean readable) {
		return this.buffers.post(call, readable) || !sends(call, this.rank);
	}

	@Override
	public final boolean readable() {
		return true;
	}

	@Override
	public final boolean sends(Call call, int rank) {
		return switch (this.collective) {
			case GATHER, REDUCE -> rank != call.root();
			case SCATTER -> rank == call.root();
			default -> true;
		};
	}

	@Override
	public final boolean receives(Call call, int rank) {
		return switch (this.collective) {
			case GATHER, REDUCE -> rank == call.root();
			case SCATTER -> rank != call.root();
			default -> true;
		};
	}

	@Override
	public final long divide(Call call) {
		int slices = this.partPerRank ? this.worldSize : 1;
		long slotBytes = LargeAlgorithm.slotBytes(call.bytes() * slices, slices);
		this.sliceBytes = LargeAlgorithm.sliceBytes(slotBytes, slices);
		return slotBytes;
	}

	@Override
	public final long chunks(Call call) {
		return (call.bytes() + this.sliceBytes - 1) / this.sliceBytes;
	}

	/** Stages the slices for the other ranks. */
	@Override
	public final void put(Call call, long chunk) {
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
	final long staged(int peer, long chunk) {
		return this.pipeline.slot(peer, chunk) + (this.partPerRank ? this.rank * this.sliceBytes : 0);
	}

	/** Address of the slice for a peer in the send buffer. */
	final long source(Call call, int peer, long chunk) {
		return call.sendAddress() + part(call, peer) + start(chunk);
	}

	/** Offset of the part for a peer in a send buffer. */
	final long part(Call call, int peer) {
		return this.partPerRank ? peer * call.bytes() : 0;
	}

	/** Offset of a slice in its part. */
	final long start(long chunk) {
		return chunk * this.sliceBytes;
	}

	/** Bytes of a slice; the last one may be short. */
	final long length(Call call, long chunk) {
		return Math.min(this.sliceBytes, call.bytes() - start(chunk));
	}

}
