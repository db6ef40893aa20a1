package io.tutti.engine.algorithm;

/**
 * The parts of a buffer in the order of tree numbers, which count from the root. Number 0
 * is the root's part; the part of the last rank is followed by that of rank 0.
 */
final class RootedOrder {

	private final Chunks chunks;

	private final int worldSize;

	private int root;

	private long address;

	RootedOrder(Chunks chunks, int worldSize) {
		this.chunks = chunks;
		this.worldSize = worldSize;
	}

	/** Sets the root and the root's buffer, whose parts are given by the chunks. */
	void prepare(int root, long address) {
		this.root = root;
		this.address = address;
	}

	/** Offset of a number's part from the root's part. */
	long offset(int number) {
		int rank = this.root + number;
		long offset = (rank < this.worldSize) ? this.chunks.start(rank)
				: this.chunks.totalBytes() + this.chunks.start(rank - this.worldSize);
		return offset - this.chunks.start(this.root);
	}

	/** Bytes of the parts from one number up to, but excluding, another. */
	long bytes(int start, int end) {
		return offset(end) - offset(start);
	}

	/** Address of a position relative to the root's part. */
	long address(long position) {
		long physical = position + this.chunks.start(this.root);
		long total = this.chunks.totalBytes();
		return this.address + ((physical < total) ? physical : physical - total);
	}

	/** Number of contiguous bytes from a position on. */
	long contiguous(long position) {
		long physical = position + this.chunks.start(this.root);
		long total = this.chunks.totalBytes();
		return (physical < total) ? total - physical : 2 * total - physical;
	}

}
