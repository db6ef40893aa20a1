package io.tutti.engine.backend.mpi;

/**
 * There is no such rank in the communicator.
 */
public final class InvalidRankException extends MpiException {

	private static final long serialVersionUID = 1L;

	private final int rank;

	private final int size;

	/**
	 * @param what what the rank was meant as, such as {@code root}
	 */
	InvalidRankException(String what, int rank, int size) {
		super(what + " must be in 0.." + (size - 1) + ", got " + rank, null);
		this.rank = rank;
		this.size = size;
	}

	/** The rank that was given. */
	public int rank() {
		return this.rank;
	}

	/** How many ranks there are. */
	public int size() {
		return this.size;
	}

}
