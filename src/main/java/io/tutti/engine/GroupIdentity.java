package io.tutti.engine;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Which group, and who this process is in it.
 *
 * @param name name of the group, {@link Failure#WORLD} for the one that holds every rank
 * @param rank this process's rank in the group
 * @param members the world ranks of the group's ranks, by rank in the group
 * @param generation which forming of the job the group belongs to
 */
public record GroupIdentity(String name, int rank, List<Integer> members, long generation) {

	public GroupIdentity {
		members = List.copyOf(members);
		if (rank < 0 || rank >= members.size()) {
			throw new IllegalArgumentException("rank must be in 0.." + (members.size() - 1) + ", got " + rank);
		}
	}

	/** The group that holds every rank. */
	public static GroupIdentity world(int rank, int worldSize, long generation) {
		return new GroupIdentity(Failure.WORLD, rank, IntStream.range(0, worldSize).boxed().toList(), generation);
	}

	/** How many ranks the group has. */
	public int worldSize() {
		return this.members.size();
	}

	/** The world rank of this process. */
	public int worldRank() {
		return this.members.get(this.rank);
	}

}
