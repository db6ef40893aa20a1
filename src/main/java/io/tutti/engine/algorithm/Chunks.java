package io.tutti.engine.algorithm;

import io.tutti.engine.Call;

/**
 * A buffer cut into one chunk per rank, in rank order.
 */
final class Chunks {

	private final int worldSize;

	/** Where each chunk starts in the buffer, and at last where the buffer ends. */
	private final long[] starts;

	Chunks(int worldSize) {
		this.worldSize = worldSize;
		this.starts = new long[worldSize + 1];
	}

	/** Cuts a buffer into chunks of one size; the last ones may be short or empty. */
	void ofBuffer(long bytes, long chunkBytes) {
		for (int i = 0; i <= this.worldSize; i++) {
			this.starts[i] = Math.min(i * chunkBytes, bytes);
		}
	}

	/** The parts of a call whose buffer holds one for each rank. */
	void ofParts(Call call) {
		if (call.uneven()) {
			ofCounts(call.sendCounts(), call.type().bytes());
		}
		else {
			ofBuffer(call.bytes() * this.worldSize, call.bytes());
		}
	}

	/** Cuts by the elements that each rank has. */
	void ofCounts(long[] counts, int elementBytes) {
		for (int i = 0; i < this.worldSize; i++) {
			this.starts[i + 1] = this.starts[i] + counts[i] * elementBytes;
		}
	}

	/** Where a rank's chunk starts, in bytes from the start of the buffer. */
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
