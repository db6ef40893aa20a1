package io.tutti.engine.algorithm.shared;

import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Into what chunks a large buffer is cut for the stage: enough of them that all ranks
 * work at once, none so large that it leaves the second-level cache before it is read.
 */
final class ChunkSize {

	/** No element and no cache line lies across two slices. */
	private static final long LINE_BYTES = 64;

	private static final long CHUNKS_WANTED = 4;

	private static final long MIN_BYTES = 16 << 10;

	private static final long MAX_BYTES = ChunkPipeline.BYTES / 8;

	private ChunkSize() {
	}

	/** Room for a chunk of a buffer of that size; a power of two. */
	static long slotBytes(long bytes) {
		return Math.clamp(Long.highestOneBit(Math.max(1, bytes / CHUNKS_WANTED)), MIN_BYTES, MAX_BYTES);
	}

	/** Room for each of several slices in a slot; whole cache lines. */
	static long sliceBytes(long slotBytes, int slices) {
		return slotBytes / slices & -LINE_BYTES;
	}

}
