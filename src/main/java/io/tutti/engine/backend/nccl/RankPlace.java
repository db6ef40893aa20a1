package io.tutti.engine.backend.nccl;

/**
 * Who a communicator's rank is.
 *
 * @param rank its rank
 * @param worldSize how many ranks there are, 1 or more
 * @param device the device of this process that it works on
 */
public record RankPlace(int rank, int worldSize, int device) {

	public RankPlace {
		if (worldSize < 1) {
			throw new IllegalArgumentException("world size must be 1 or more, got " + worldSize);
		}
		if (rank < 0 || rank >= worldSize) {
			throw new IllegalArgumentException("rank must be in 0.." + (worldSize - 1) + ", got " + rank);
		}
		if (device < 0) {
			throw new IllegalArgumentException("device must be 0 or more, got " + device);
		}
	}

	/**
	 * The usual place: as many devices as ranks on a host, each rank the one of its local
	 * rank; more ranks than devices share them in turn.
	 * @param devices how many devices this process may use
	 */
	public static RankPlace ofLocalRank(int rank, int worldSize, int localRank, int devices) {
		if (devices < 1) {
			throw new IllegalArgumentException("devices must be 1 or more, got " + devices);
		}
		return new RankPlace(rank, worldSize, localRank % devices);
	}

	void requireRank(String name, int other) {
		if (other < 0 || other >= this.worldSize) {
			throw new IllegalArgumentException(name + " must be in 0.." + (this.worldSize - 1) + ", got " + other);
		}
	}

}
