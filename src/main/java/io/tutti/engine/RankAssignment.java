package io.tutti.engine;

/**
 * This process's rank and the rendezvous address of its group.
 *
 * @param rank this process's rank in the group, 0 to {@code worldSize - 1}
 * @param worldSize number of ranks in the group
 * @param localRank this process's index among the ranks of its host
 * @param localWorldSize number of ranks on this host
 * @param masterAddress host name or address of the rendezvous, where rank 0 listens
 * @param masterPort port of the rendezvous, 1 to 65535
 */
public record RankAssignment(int rank, int worldSize, int localRank, int localWorldSize, String masterAddress,
		int masterPort) {

	/** Default rendezvous port for ranks of one host; the same as torchrun's default. */
	public static final int DEFAULT_MASTER_PORT = 29500;

	/** Rendezvous address if all ranks run on one host. */
	public static final String DEFAULT_MASTER_ADDRESS = "127.0.0.1";

	/** Checks that ranks and sizes fit together. */
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

	/**
	 * Rank 0 of 1: a process without a launcher.
	 * @return the assignment
	 */
	public static RankAssignment single() {
		return onOneHost(0, 1, DEFAULT_MASTER_PORT);
	}

	/**
	 * A rank of a group whose ranks all run on this host.
	 * @param rank the rank, in {@code 0..worldSize-1}
	 * @param worldSize number of ranks, at least 1
	 * @param masterPort port of rank 0 on the loopback address, 1 to 65535
	 * @return the assignment
	 */
	public static RankAssignment onOneHost(int rank, int worldSize, int masterPort) {
		return new RankAssignment(rank, worldSize, rank, worldSize, DEFAULT_MASTER_ADDRESS, masterPort);
	}

	private static void requireRank(String name, int rank, int size) {
		if (rank < 0 || rank >= size) {
			throw new IllegalArgumentException(name + " must be in 0.." + (size - 1) + ", got " + rank);
		}
	}

}
