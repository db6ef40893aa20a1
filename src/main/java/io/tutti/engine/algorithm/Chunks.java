package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;

/**
 * Boundaries of one chunk per rank in a buffer, in rank order.
 */
final class Chunks {

	private final int worldSize;

	/** Offset of each chunk, followed by the end of the buffer. */
	private final long[] starts;

	Chunks(int worldSize) {
		this.worldSize = worldSize;
		this.starts = new long[worldSize + 1];
	}

	/**
	 * Divides a buffer into chunks of equal size; the last ones may be short or empty.
	 */
	void ofBuffer(long bytes, long chunkBytes) {
		for (int i = 0; i <= this.worldSize; i++) {
			this.starts[i] = Math.min(i * chunkBytes, bytes);
		}
	}

	/** Uses the parts of a call whose buffer holds one per rank. */
	void ofParts(Call call) {
		if (call.uneven()) {
			ofCounts(call.sendCounts(), call.type().bytes());
		}
		else {
			ofBuffer(call.bytes() * this.worldSize, call.bytes());
		}
	}

	/** Divides a buffer by the number of elements of each rank. */
	void ofCounts(long[] counts, int elementBytes) {
		for (int i = 0; i < this.worldSize; i++) {
			this.starts[i + 1] = this.starts[i] + counts[i] * elementBytes;
		}
	}

	/** Offset of a rank's chunk, in bytes. */
	long start(int rank) {
		return this.starts[rank];
	}

	/** Bytes of a rank's chunk. */
	long length(int rank) {
		return this.starts[rank + 1] - this.starts[rank];
	}

	/** Bytes of the longest chunk. */
	long longest() {
		long longest = 0;
		for (int i = 0; i < this.worldSize; i++) {
			longest = Math.max(longest, length(i));
		}
		return longest;
	}

	/** Bytes of the whole buffer. */
	long totalBytes() {
		return this.starts[this.worldSize];
	}

}
