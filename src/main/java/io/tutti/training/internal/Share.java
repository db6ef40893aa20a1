package io.tutti.training.internal;

/**
 * A rank's contiguous part of a range that is divided among all ranks.
 *
 * @param from first position
 * @param to position after the last
 */
public record Share(int from, int to) {

	/** A rank's part of the positions from 0; part sizes differ by at most one. */
	public static Share of(int count, int rank, int worldSize) {
		return new Share((int) ((long) count * rank / worldSize), (int) ((long) count * (rank + 1) / worldSize));
	}

	/** A copy shifted by an offset. */
	public Share shiftedBy(int offset) {
		return new Share(this.from + offset, this.to + offset);
	}

	public int size() {
		return this.to - this.from;
	}

}
