package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.CallSlots;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * Runs a collective on large buffers. If the buffers of all ranks are accessible in
 * place, all ranks work on them, and synchronize before and after. Otherwise the buffers
 * pass through the chunk pipeline: every rank fills slots, several chunks ahead, and
 * processes each chunk that all ranks have put.
 */
final class LargeAlgorithm implements Algorithm {

	/** No element and no cache line spans two slices. */
	private static final long LINE_BYTES = 64;

	/** Enough chunks that all ranks work concurrently. */
	private static final long CHUNKS_WANTED = 4;

	private static final long MIN_SLOT_BYTES = 16 << 10;

	/** A chunk stays in the L2 cache until it is read. */
	private static final long MAX_SLOT_BYTES = ChunkPipeline.BYTES / 8;

	private final LargeCollective collective;

	private final int worldSize;

	private final ShmTransport transport;

	private final CallSlots slots;

	private final ChunkPipeline pipeline;

	private boolean allArrived;

	LargeAlgorithm(LargeCollective collective, int worldSize, ShmTransport transport) {
		this.collective = collective;
		this.worldSize = worldSize;
		this.transport = transport;
		this.slots = transport.slots();
		this.pipeline = transport.pipeline();
	}

	/**
	 * Slot size for a buffer of the given size; a power of two.
	 * @param slices number of slices that a slot holds
	 */
	static long slotBytes(long bytes, int slices) {
		long least = Math.max(MIN_SLOT_BYTES, LINE_BYTES * Long.highestOneBit(2L * slices - 1));
		return Math.clamp(Long.highestOneBit(Math.max(1, bytes / CHUNKS_WANTED)), least,
				Math.max(least, MAX_SLOT_BYTES));
	}

	/** Size of each of several slices in a slot; a multiple of a cache line. */
	static long sliceBytes(long slotBytes, int slices) {
		return slotBytes / slices & -LINE_BYTES;
	}

	@Override
	public void run(Call call) {
		if (this.collective.post(call)) {
			this.slots.awaitAll();
			SymmetricBuffers buffers = this.transport.buffers();
			if (buffers.allReachable()) {
				this.collective.runDirectly(call);
				buffers.finish();
				buffers.awaitFinished();
				return;
			}
		}
		pass(call);
	}

	private void pass(Call call) {
		this.allArrived = false;
		this.pipeline.begin(this.collective.divide(call));
		boolean reduces = this.collective.reduces();
		long chunks = this.collective.chunks(call);
		long put = 0;
		long reduced = 0;
		long taken = 0;
		while (taken < chunks) {
			boolean moved = false;
			if (put < chunks && this.pipeline.free(put)) {
				this.collective.put(call, put);
				this.pipeline.put(put++);
				moved = true;
			}
			if (reduces && reduced < put && putByAll(reduced)) {
				this.collective.reduce(call, reduced);
				this.pipeline.reduced(reduced++);
				moved = true;
			}
			if (reduces ? taken < reduced && reducedByAll(taken) : taken < put && putByAll(taken)) {
				this.collective.take(call, taken);
				this.pipeline.taken(taken++);
				moved = true;
			}
			this.transport.endRound(moved);
		}
		this.pipeline.end(chunks);
	}

	private boolean putByAll(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!(this.allArrived || this.slots.arrived(peer)) || !this.pipeline.hasPut(peer, chunk)) {
				return false;
			}
		}
		this.allArrived = true;
		return true;
	}

	private boolean reducedByAll(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.pipeline.hasReduced(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

}
