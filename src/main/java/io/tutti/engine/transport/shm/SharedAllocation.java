package io.tutti.engine.transport.shm;

import java.lang.foreign.MemorySegment;

/**
 * One buffer per rank, of one size, in one segment that all ranks map.
 *
 * @param segment holds the buffers, by rank
 * @param bytes size of each
 */
record SharedAllocation(SharedSegment segment, long bytes) {

	/** Buffers are page-aligned, so that no two ranks write to the same page. */
	private static final long PAGE_BYTES = 4096;

	/** Size of a segment for so many buffers. */
	static long segmentBytes(int ranks, long bytes) {
		return Math.multiplyExact((long) ranks, stride(bytes));
	}

	/** At least one page, since an empty segment cannot be mapped. */
	private static long stride(long bytes) {
		return Math.addExact(Math.max(1, bytes), PAGE_BYTES - 1) & -PAGE_BYTES;
	}

	/** Address of a rank's buffer in this process. */
	long address(int rank) {
		return this.segment.address() + rank * stride(this.bytes);
	}

	/** A rank's buffer; valid until the segment is closed. */
	MemorySegment part(int rank) {
		return this.segment.memory().asSlice(rank * stride(this.bytes), this.bytes);
	}

	void close() {
		this.segment.close();
	}

}
