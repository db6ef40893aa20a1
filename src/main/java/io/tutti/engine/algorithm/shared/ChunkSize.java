package io.tutti.engine.algorithm.shared;

import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Chunk sizes of the pipeline for large buffers: enough chunks that all ranks work
 * concurrently, each small enough to stay in the L2 cache until it is read.
 */
final class ChunkSize {

	/** No element and no cache line spans two slices. */
	private static final long LINE_BYTES = 64;

	private static final long CHUNKS_WANTED = 4;

	private static final long MIN_BYTES = 16 << 10;

	private static final long MAX_BYTES = ChunkPipeline.BYTES / 8;

	private ChunkSize() {
	}

	/** Slot size for a buffer of the given size; a power of two. */
	static long slotBytes(long bytes) {
		return Math.clamp(Long.highestOneBit(Math.max(1, bytes / CHUNKS_WANTED)), MIN_BYTES, MAX_BYTES);
	}

	/** Size of each of several slices in a slot; a multiple of a cache line. */
	static long sliceBytes(long slotBytes, int slices) {
		return slotBytes / slices & -LINE_BYTES;
	}

}
