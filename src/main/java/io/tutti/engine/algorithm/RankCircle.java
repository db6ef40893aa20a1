package io.tutti.engine.algorithm;

/**
 * A root's buffer of one equal part per rank, addressed by the numbers that a tree counts
 * from the root: number 0 is the root's part, and after the last rank's comes rank 0's.
 */
final class RankCircle {

	private long address;

	private long bytes;

	private long shift;

	/** Takes up a buffer. */
	void prepare(long address, long partBytes, int worldSize, int root) {
		this.address = address;
		this.bytes = partBytes * worldSize;
		this.shift = partBytes * root;
	}

	/** Address of a position that is counted from the root's part. */
	long address(long position) {
		long physical = position + this.shift;
		return this.address + ((physical < this.bytes) ? physical : physical - this.bytes);
	}

	/** Bytes from a position on whose addresses are one run. */
	long contiguous(long position) {
		long physical = position + this.shift;
		return (physical < this.bytes) ? this.bytes - physical : 2 * this.bytes - physical;
	}

}
