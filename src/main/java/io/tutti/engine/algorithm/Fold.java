package io.tutti.engine.algorithm;

/**
 * How ranks fold into a power of two of positions, for algorithms whose partners are
 * found by flipping a bit. Of the first {@code 2 × surplus} ranks each even one leaves
 * its operand with the odd one after it and waits for the result; the others keep their
 * order.
 */
final class Fold {

	private final int rank;

	private final int positions;

	private final int surplus;

	Fold(int rank, int worldSize) {
		this.rank = rank;
		this.positions = Integer.highestOneBit(worldSize);
		this.surplus = worldSize - this.positions;
	}

	/** How many positions there are: a power of two. */
	int positions() {
		return this.positions;
	}

	private boolean paired() {
		return this.rank < 2 * this.surplus;
	}

	/** Whether this rank leaves its operand with another. */
	boolean guest() {
		return paired() && this.rank % 2 == 0;
	}

	/** Whether another rank leaves its operand with this one. */
	boolean host() {
		return paired() && this.rank % 2 == 1;
	}

	/** The host of this guest, or the guest of this host. */
	int companion() {
		return this.rank ^ 1;
	}

	/** Position of this rank, which is no guest. */
	int position() {
		return paired() ? this.rank / 2 : this.rank - this.surplus;
	}

	/** The rank at a position. */
	int rankAt(int position) {
		return (position < this.surplus) ? 2 * position + 1 : position + this.surplus;
	}

}
