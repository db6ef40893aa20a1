package io.tutti.engine.algorithm;

/**
 * Maps ranks to a power of two of positions, for algorithms that find partners by
 * flipping a bit. Of the first {@code 2 × surplus} ranks each even rank is folded: it
 * sends its operand to the next odd rank, its proxy, and waits for the result. The others
 * keep their order.
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

	/** Number of positions; a power of two. */
	int positions() {
		return this.positions;
	}

	private boolean paired() {
		return this.rank < 2 * this.surplus;
	}

	/** Whether this rank sends its operand to a proxy and takes no part in the steps. */
	boolean folded() {
		return paired() && this.rank % 2 == 0;
	}

	/** Whether this rank represents a folded rank. */
	boolean proxy() {
		return paired() && this.rank % 2 == 1;
	}

	/** The proxy of this folded rank, or the folded rank of this proxy. */
	int partner() {
		return this.rank ^ 1;
	}

	/** Position of this rank, which must not be folded. */
	int position() {
		return paired() ? this.rank / 2 : this.rank - this.surplus;
	}

	/** The rank at a position. */
	int rankAt(int position) {
		return (position < this.surplus) ? 2 * position + 1 : position + this.surplus;
	}

}
