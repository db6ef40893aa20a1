package io.tutti.engine.backend.nccl;

import io.tutti.RankOutOfRangeException;

/**
 * Rank, world size and device of a communicator.
 *
 * @param rank this rank
 * @param worldSize number of ranks, at least 1
 * @param device index of the device in this process
 */
public record RankPlacement(int rank, int worldSize, int device) {

	/** Checks the values. */
	public RankPlacement {
		if (worldSize < 1) {
			throw new IllegalArgumentException("world size must be 1 or more, got " + worldSize);
		}
		RankOutOfRangeException.check("rank", rank, worldSize);
		if (device < 0) {
			throw new IllegalArgumentException("device must be 0 or more, got " + device);
		}
	}

	/**
	 * Assigns the device of the local rank; if a host has more ranks than devices, ranks
	 * share them round-robin.
	 * @param rank the rank, from 0
	 * @param worldSize number of ranks
	 * @param localRank index among the ranks of the host, from 0
	 * @param devices number of devices visible to this process
	 * @return the placement
	 */
	public static RankPlacement ofLocalRank(int rank, int worldSize, int localRank, int devices) {
		if (devices < 1) {
			throw new IllegalArgumentException("devices must be 1 or more, got " + devices);
		}
		return new RankPlacement(rank, worldSize, localRank % devices);
	}

	void requireRank(String role, int other) {
		RankOutOfRangeException.check(role, other, this.worldSize);
	}

}
