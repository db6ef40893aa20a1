package io.tutti.engine.algorithm;

/**
 * Where one stream of a ring has come: slice after slice, and within a slice through the
 * chunks of {@code N - 1} ranks, downwards from the first. Empty pieces are skipped.
 */
final class SliceCursor {

	private final Chunks chunks;

	private final int worldSize;

	private int firstChunk;

	private long sliceBytes;

	private long longest;

	/** Where the slice starts in every chunk. */
	private long sliceStart;

	private int step;

	private long offset;

	SliceCursor(Chunks chunks, int worldSize) {
		this.chunks = chunks;
		this.worldSize = worldSize;
	}

	void start(int firstChunk, long sliceBytes) {
		this.firstChunk = firstChunk;
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

	/** Whether the piece at hand is the first of its slice. */
	boolean firstStep() {
		return this.step == 0;
	}

	/** Whether the piece at hand is the last of its slice. */
	boolean lastStep() {
		return this.step == this.worldSize - 2;
	}

	/** Place in the buffer, in bytes from its start. */
	long position() {
		return this.chunks.start(chunk()) + this.sliceStart + this.offset;
	}

	/** Bytes left of the piece at hand. */
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
			if (this.step == this.worldSize - 1) {
				this.step = 0;
				this.sliceStart += this.sliceBytes;
			}
		}
	}

	private int chunk() {
		return Math.floorMod(this.firstChunk - this.step, this.worldSize);
	}

}
