package io.tutti.engine.backend.mpi;

/**
 * A rank is not in the communicator's range.
 */
public final class InvalidRankException extends MpiException {

	private static final long serialVersionUID = 1L;

	private final int rank;

	private final int size;

	/**
	 * @param what role of the rank, such as {@code root}, after the place of the call
	 */
	InvalidRankException(String what, int rank, int size) {
		super(what + " must be in 0.." + (size - 1) + ", got " + rank, null);
		this.rank = rank;
		this.size = size;
	}

	/**
	 * The invalid rank.
	 * @return the invalid rank
	 */
	public int rank() {
		return this.rank;
	}

	/**
	 * Number of ranks in the communicator.
	 * @return number of ranks in the communicator
	 */
	public int size() {
		return this.size;
	}

}
