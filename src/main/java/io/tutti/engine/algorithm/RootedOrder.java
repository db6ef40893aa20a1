package io.tutti.engine.algorithm;

/**
 * The root's buffer of one equal part per rank, addressed by tree numbers, which count
 * from the root. Number 0 is the root's part; the part of the last rank is followed by
 * that of rank 0.
 */
final class RootedOrder {

	private long address;

	private long bytes;

	private long shift;

	/** Sets the buffer. */
	void prepare(long address, long partBytes, int worldSize, int root) {
		this.address = address;
		this.bytes = partBytes * worldSize;
		this.shift = partBytes * root;
	}

	/** Address of a position relative to the root's part. */
	long address(long position) {
		long physical = position + this.shift;
		return this.address + ((physical < this.bytes) ? physical : physical - this.bytes);
	}

	/** Number of contiguous bytes from a position on. */
	long contiguous(long position) {
		long physical = position + this.shift;
		return (physical < this.bytes) ? this.bytes - physical : 2 * this.bytes - physical;
	}

}
