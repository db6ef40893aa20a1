package io.tutti.engine.algorithm;

/**
 * Position of one direction of a ring pass. Iterates over slices and, within a slice,
 * over the steps: the chunks of ranks in descending order. Skips empty segments.
 */
final class SliceCursor {

	private final Chunks chunks;

	private final int worldSize;

	private int firstChunk;

	private long sliceBytes;

	private int steps;

	private long longest;

	/** Offset of the slice in each chunk. */
	private long sliceStart;

	private int step;

	private long offset;

	SliceCursor(Chunks chunks, int worldSize) {
		this.chunks = chunks;
		this.worldSize = worldSize;
	}

	void start(int firstChunk, int steps, long sliceBytes) {
		this.firstChunk = firstChunk;
		this.steps = steps;
		this.sliceBytes = sliceBytes;
		this.longest = this.chunks.longest();
		this.sliceStart = 0;
		this.step = 0;
		this.offset = 0;
		skipEmpty();
	}

	boolean done() {
		return this.sliceStart >= this.longest;
	}

	/** Step of the current segment. */
	int step() {
		return this.step;
	}

	/** Offset in the buffer, in bytes. */
	long position() {
		return this.chunks.start(chunk()) + this.sliceStart + this.offset;
	}

	/** Remaining bytes of the current segment. */
	long left() {
		return Math.min(this.sliceBytes, this.chunks.length(chunk()) - this.sliceStart) - this.offset;
	}

	void advance(long bytes) {
		this.offset += bytes;
		skipEmpty();
	}

	private void skipEmpty() {
		while (!done() && left() <= 0) {
			this.offset = 0;
			this.step++;
			if (this.step == this.steps) {
				this.step = 0;
				this.sliceStart += this.sliceBytes;
			}
		}
	}

	private int chunk() {
		return Math.floorMod(this.firstChunk - this.step, this.worldSize);
	}

}
