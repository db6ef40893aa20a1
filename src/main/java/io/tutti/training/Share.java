package io.tutti.training;

/**
 * A rank's contiguous part of something that all ranks share.
 *
 * @param from first position
 * @param to position behind the last
 */
record Share(int from, int to) {

	/** A rank's part of the positions from 0; parts differ by one at most. */
	static Share of(int count, int rank, int worldSize) {
		return new Share((int) ((long) count * rank / worldSize), (int) ((long) count * (rank + 1) / worldSize));
	}

	/** The same part of positions that start later. */
	Share shiftedBy(int offset) {
		return new Share(this.from + offset, this.to + offset);
	}

	int size() {
		return this.to - this.from;
	}

}
