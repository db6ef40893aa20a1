package io.tutti.engine.spi;

import java.util.List;
import java.util.stream.IntStream;

import io.tutti.Failure;

/**
 * Which group, and who this process is in it.
 *
 * @param name name of the group, {@link Failure#WORLD} for the one that holds every rank
 * @param rank this process's rank in the group
 * @param members the world ranks of the group's ranks, by rank in the group
 * @param generation which forming of the job the group belongs to
 * @param part which of its own parts this is, such as one host's ranks; empty for the
 * group itself
 */
public record GroupIdentity(String name, int rank, List<Integer> members, long generation, String part) {

	public GroupIdentity {
		members = List.copyOf(members);
		if (rank < 0 || rank >= members.size()) {
			throw new IllegalArgumentException("rank must be in 0.." + (members.size() - 1) + ", got " + rank);
		}
	}

	/** A whole group. */
	public GroupIdentity(String name, int rank, List<Integer> members, long generation) {
		this(name, rank, members, generation, "");
	}

	/** The group that holds every rank. */
	public static GroupIdentity world(int rank, int worldSize, long generation) {
		return new GroupIdentity(Failure.WORLD, rank, IntStream.range(0, worldSize).boxed().toList(), generation);
	}

	/**
	 * Some ranks of the group, this one among them, who carry out a part of its calls
	 * among themselves. What fails there fails in the group.
	 * @param label tells the parts of a group apart
	 * @param ranks ranks of the group, by rank in the part
	 */
	public GroupIdentity part(String label, List<Integer> ranks) {
		return new GroupIdentity(this.name, ranks.indexOf(this.rank), ranks.stream().map(this.members::get).toList(),
				this.generation, label);
	}

	/**
	 * What tells this group's connections from those of others between the same ranks.
	 */
	public String connectionName() {
		return this.part.isEmpty() ? this.name : this.name + ":" + this.part;
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
