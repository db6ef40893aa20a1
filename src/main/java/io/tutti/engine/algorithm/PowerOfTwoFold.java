package io.tutti.engine.algorithm;

/**
 * Maps ranks to a power of two of positions, for algorithms that find partners by
 * flipping a bit. Of the first {@code 2 × surplus} ranks each even rank is folded: it
 * sends its operand to the next odd rank, its proxy, and waits for the result. The others
 * keep their order.
 */
final class PowerOfTwoFold {

	private final int rank;

	private final Exchange exchange;

	private final int positions;

	private final int surplus;

	PowerOfTwoFold(AlgorithmContext context) {
		this.rank = context.rank();
		this.exchange = context.exchange();
		this.positions = Integer.highestOneBit(context.worldSize());
		this.surplus = context.worldSize() - this.positions;
	}

	/** Number of positions; a power of two. */
	int positions() {
		return this.positions;
	}

	/**
	 * Begins an all-reduce in place: a proxy combines the operand of its folded rank with
	 * its own. A folded rank returns when it has the result.
	 * @return whether this rank takes part in the steps
	 */
	boolean enter(long address, long bytes) {
		if (!paired()) {
			return true;
		}
		if (proxy()) {
			this.exchange.combine(partner(), address, bytes, true).run();
			return true;
		}
		this.exchange.send(partner(), address, bytes).run();
		this.exchange.receive(partner(), address, bytes).run();
		return false;
	}

	/** Ends an all-reduce: a proxy sends the result to its folded rank. */
	void leave(long address, long bytes) {
		if (paired() && proxy()) {
			this.exchange.send(partner(), address, bytes).run();
		}
	}

	private boolean paired() {
		return this.rank < 2 * this.surplus;
	}

	private boolean proxy() {
		return this.rank % 2 == 1;
	}

	private int partner() {
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
