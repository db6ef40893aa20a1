package io.tutti.engine.algorithm;

import io.tutti.engine.transport.Link;

/**
 * The parts of a buffer in the order of tree numbers, which count from the root, and the
 * subtrees whose parts a rank still has to move. Number 0 is the root's part; the part of
 * the last rank is followed by that of rank 0.
 */
final class RootedOrder {

	private final TreePosition tree;

	private final Chunks chunks;

	private final int worldSize;

	private int root;

	private long address;

	/** Children whose subtrees are relayed. */
	private int relayed;

	RootedOrder(TreePosition tree, Chunks chunks, int worldSize) {
		this.tree = tree;
		this.chunks = chunks;
		this.worldSize = worldSize;
	}

	/** Sets the root and the root's buffer, whose parts are given by the chunks. */
	void prepare(int root, long address) {
		this.root = root;
		this.address = address;
		this.relayed = 0;
	}

	/** Offset of a number's part from the root's part. */
	private long offset(int number) {
		int rank = this.root + number;
		long offset = (rank < this.worldSize) ? this.chunks.start(rank)
				: this.chunks.totalBytes() + this.chunks.start(rank - this.worldSize);
		return offset - this.chunks.start(this.root);
	}

	/** Position of the bytes of a child's subtree that move next. */
	long position(int child) {
		return offset(this.tree.start(child)) + this.tree.progress(child);
	}

	/** Bytes of a child's subtree that have not moved. */
	long left(int child) {
		return offset(this.tree.end(child)) - position(child);
	}

	/** Whether the subtrees of all children have moved. */
	boolean complete() {
		for (int i = 0; i < this.tree.children(); i++) {
			if (left(i) > 0) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Moves what is possible of the subtrees, one after the other, between the parent and
	 * the children.
	 * @param up whether to the parent
	 * @return whether anything moved
	 */
	boolean relay(boolean up) {
		Link parent = this.tree.parent();
		boolean moved = false;
		while (!relayed()) {
			long left = left(this.relayed);
			if (left == 0) {
				this.relayed++;
				continue;
			}
			Link child = this.tree.child(this.relayed);
			long taken = TreePosition.forward(up ? child : parent, up ? parent : child, left);
			if (taken == 0) {
				return moved;
			}
			this.tree.advance(this.relayed, taken);
			moved = true;
		}
		return moved;
	}

	/** Whether the subtrees of all children are relayed. */
	boolean relayed() {
		return this.relayed == this.tree.children();
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
