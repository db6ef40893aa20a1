package io.tutti.engine.spi;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A group's identity and this process's rank in it.
 *
 * @param name name of the group, {@link Failure#WORLD} for the group of all ranks
 * @param rank this process's rank in the group
 * @param members the world ranks of the group's ranks, by rank in the group
 * @param jobSize number of ranks of the job that the group belongs to
 * @param generation generation of that job
 * @param part label of a part of the group, such as one host's ranks; empty for the group
 * itself
 * @param elastic whether a later generation replaces the group when a rank is lost
 */
public record GroupIdentity(String name, int rank, List<Integer> members, int jobSize, long generation, String part,
		boolean elastic) {

	public GroupIdentity {
		members = List.copyOf(members);
		if (rank < 0 || rank >= members.size()) {
			throw new IllegalArgumentException("rank must be in 0.." + (members.size() - 1) + ", got " + rank);
		}
	}

	/** A group of all ranks of its job. */
	public GroupIdentity(String name, int rank, List<Integer> members, long generation) {
		this(name, rank, members, members.size(), generation, "", false);
	}

	/** The group of all ranks. */
	public static GroupIdentity world(int rank, int worldSize, long generation) {
		return new GroupIdentity(Failure.WORLD, rank, IntStream.range(0, worldSize).boxed().toList(), generation);
	}

	/** The same group, which a later generation replaces. */
	public GroupIdentity ofElasticJob() {
		return new GroupIdentity(this.name, this.rank, this.members, this.jobSize, this.generation, this.part, true);
	}

	/**
	 * Another group of the same job.
	 * @param rank this process's rank in it
	 * @param members the world ranks of its ranks, by rank in it
	 */
	public GroupIdentity other(String name, int rank, List<Integer> members) {
		return new GroupIdentity(name, rank, members, this.jobSize, this.generation, "", this.elastic);
	}

	/**
	 * A part of the group: ranks, including this one, that execute parts of its calls
	 * among themselves. A failure in a part is a failure of the group.
	 * @param label distinguishes the parts of a group
	 * @param ranks ranks of the group, by rank in the part
	 */
	public GroupIdentity part(String label, List<Integer> ranks) {
		return new GroupIdentity(this.name, ranks.indexOf(this.rank), ranks.stream().map(this.members::get).toList(),
				this.jobSize, this.generation, label, this.elastic);
	}

	/**
	 * Distinguishes this group's connections from other connections of the same ranks.
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

	/** The ranks of the group except this one. */
	public List<Integer> others() {
		return ranksWhere(worldSize(), (other) -> other != this.rank);
	}

	/** The ranks of a group or job of this size that meet a condition, in order. */
	public static List<Integer> ranksWhere(int worldSize, IntPredicate condition) {
		return IntStream.range(0, worldSize).filter(condition).boxed().toList();
	}

	/** A failure outside of any call, for which this rank breaks the group. */
	public Failure aborted(String detail) {
		return Failure.outside(Failure.Kind.ABORTED, this.name, List.of(worldRank()), detail);
	}

	/**
	 * A failure of a call, seen by this rank only. It is about this rank if this rank
	 * aborts the call, else about none.
	 */
	public Failure failure(Failure.Kind kind, Call call, String detail) {
		return call.failure(kind, this.name, (kind == Failure.Kind.ABORTED) ? List.of(worldRank()) : List.of(), detail);
	}

	/** The exception that this rank throws for a failure. */
	public CollectiveException exception(Failure failure, @Nullable Throwable cause) {
		return CollectiveException.of(worldRank(), this.jobSize, failure, cause);
	}

}
