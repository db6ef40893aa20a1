package io.tutti;

/**
 * A rank that was passed to a call is not in the group. Thrown before any data is sent;
 * the group stays usable.
 */
public final class RankOutOfRangeException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	/** The rank that the exception is about. */
	private final int rank;

	/** Number of ranks. */
	private final int worldSize;

	private RankOutOfRangeException(String role, int rank, int worldSize) {
		super(role + " must be in 0.." + (worldSize - 1) + ", got " + rank);
		this.rank = rank;
		this.worldSize = worldSize;
	}

	/**
	 * Checks a rank.
	 * @param role what the rank was passed as, such as {@code root}
	 * @param rank rank in question
	 * @param worldSize number of ranks in the group
	 * @throws RankOutOfRangeException if it is not in the group
	 */
	public static void check(String role, int rank, int worldSize) {
		if (rank < 0 || rank >= worldSize) {
			throw new RankOutOfRangeException(role, rank, worldSize);
		}
	}

	/**
	 * The invalid rank.
	 * @return the invalid rank
	 */
	public int rank() {
		return this.rank;
	}

	/**
	 * Number of ranks in the group.
	 * @return number of ranks in the group
	 */
	public int worldSize() {
		return this.worldSize;
	}

}
