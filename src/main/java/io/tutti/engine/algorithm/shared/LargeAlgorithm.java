package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.CallSlots;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * Runs a large call through the chunk pipeline. Every rank fills slots, several chunks
 * ahead, and processes each chunk that all ranks have put.
 */
final class PipelinePass {

	/** The collective's work on a chunk. */
	interface Work {

		/** Fills this rank's slot. */
		void put(Call call, long chunk);

		/** Reads the slots of all ranks, for the last time. */
		void take(Call call, long chunk);

	}

	/** No element and no cache line spans two slices. */
	private static final long LINE_BYTES = 64;

	/** Enough chunks that all ranks work concurrently. */
	private static final long CHUNKS_WANTED = 4;

	private static final long MIN_SLOT_BYTES = 16 << 10;

	/** A chunk stays in the L2 cache until it is read. */
	private static final long MAX_SLOT_BYTES = ChunkPipeline.BYTES / 8;

	private final int worldSize;

	private final ShmTransport transport;

	private final CallSlots slots;

	private final ChunkPipeline pipeline;

	PipelinePass(int worldSize, ShmTransport transport) {
		this.worldSize = worldSize;
		this.transport = transport;
		this.slots = transport.slots();
		this.pipeline = transport.pipeline();
	}

	/** Slot size for a buffer of the given size; a power of two. */
	static long slotBytes(long bytes) {
		return Math.clamp(Long.highestOneBit(Math.max(1, bytes / CHUNKS_WANTED)), MIN_SLOT_BYTES, MAX_SLOT_BYTES);
	}

	/** Size of each of several slices in a slot; a multiple of a cache line. */
	static long sliceBytes(long slotBytes, int slices) {
		return slotBytes / slices & -LINE_BYTES;
	}

	/**
	 * Runs a call that has been posted.
	 * @param slotBytes slot size in the pipeline
	 * @param chunks number of chunks
	 */
	void run(Call call, long slotBytes, long chunks, Work work) {
		this.pipeline.begin(slotBytes);
		long put = 0;
		long taken = 0;
		while (taken < chunks) {
			boolean moved = false;
			if (put < chunks && this.pipeline.free(put)) {
				work.put(call, put);
				this.pipeline.put(put++);
				moved = true;
			}
			if (taken < put && putByAll(taken)) {
				work.take(call, taken);
				this.pipeline.taken(taken++);
				moved = true;
			}
			this.transport.endRound(moved);
		}
		this.pipeline.end(chunks);
	}

	private boolean putByAll(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.slots.arrived(peer) || !this.pipeline.hasPut(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

}
