package io.tutti.engine;

/**
 * Who this process is and where its group meets.
 *
 * @param rank this process's place in the group, 0 to {@code worldSize - 1}
 * @param worldSize how many ranks form the group
 * @param localRank this process's place among the ranks of its host
 * @param localWorldSize how many ranks run on this host
 * @param masterAddress host name or address of the meeting point, where rank 0 listens
 * @param masterPort port of the meeting point, 1 to 65535
 */
public record RankAssignment(int rank, int worldSize, int localRank, int localWorldSize, String masterAddress,
		int masterPort) {

	/**
	 * Where ranks of one host meet when nothing says otherwise; torchrun's own default
	 * port.
	 */
	public static final int DEFAULT_MASTER_PORT = 29500;

	/** The address of the meeting point when all ranks run on one host. */
	public static final String DEFAULT_MASTER_ADDRESS = "127.0.0.1";

	public RankAssignment {
		if (worldSize < 1) {
			throw new IllegalArgumentException("world size must be at least 1, got " + worldSize);
		}
		requireRank("rank", rank, worldSize);
		if (localWorldSize < 1 || localWorldSize > worldSize) {
			throw new IllegalArgumentException(
					"local world size must be in 1.." + worldSize + " (the world size), got " + localWorldSize);
		}
		requireRank("local rank", localRank, localWorldSize);
		if (masterAddress.isBlank()) {
			throw new IllegalArgumentException("master address must not be blank");
		}
		if (masterPort < 1 || masterPort > 65535) {
			throw new IllegalArgumentException("master port must be in 1..65535, got " + masterPort);
		}
	}

	/** Rank 0 of 1: a process with no launcher at all. */
	public static RankAssignment single() {
		return onOneHost(0, 1, DEFAULT_MASTER_PORT);
	}

	/** A rank of a group whose ranks all run on this host. */
	public static RankAssignment onOneHost(int rank, int worldSize, int masterPort) {
		return new RankAssignment(rank, worldSize, rank, worldSize, DEFAULT_MASTER_ADDRESS, masterPort);
	}

	private static void requireRank(String name, int rank, int size) {
		if (rank < 0 || rank >= size) {
			throw new IllegalArgumentException(name + " must be in 0.." + (size - 1) + ", got " + rank);
		}
	}

}
