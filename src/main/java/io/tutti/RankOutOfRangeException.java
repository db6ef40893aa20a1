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

	private RankOutOfRangeException(String message, int rank, int worldSize) {
		super(message);
		this.rank = rank;
		this.worldSize = worldSize;
	}

	/**
	 * Checks a rank. For implementations of groups and libraries on top of them.
	 * @param role what the rank was passed as, such as {@code root}
	 * @param rank rank in question
	 * @param worldSize number of ranks in the group
	 * @throws RankOutOfRangeException if it is not in the group
	 */
	public static void check(String role, int rank, int worldSize) {
		if (rank < 0 || rank >= worldSize) {
			throw new RankOutOfRangeException(role + " must be in 0.." + (worldSize - 1) + ", got " + rank, rank,
					worldSize);
		}
	}

	/**
	 * The same exception with the place of the call ahead of its message. For
	 * implementations of groups, whose checks do not know the place.
	 * @param place rank, group and call
	 * @return the same exception with the place of the call ahead of its message
	 */
	public RankOutOfRangeException at(String place) {
		return new RankOutOfRangeException(place + getMessage(), this.rank, this.worldSize);
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
