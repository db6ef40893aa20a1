package io.tutti.engine.control.diagnosis;

import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.dispatch.DefaultProcessGroup;
import org.jspecify.annotations.Nullable;

/**
 * What one rank has called lately in all its groups. Its times are the rank's own
 * {@link System#nanoTime()}; the offset makes them comparable between ranks, on one host
 * to a microsecond, between hosts as well as their clocks agree.
 *
 * @param rank the rank
 * @param generation which forming of the job it belongs to
 * @param takenNanos when the account was taken
 * @param clockOffsetNanos what is added to a time to get nanoseconds since 1970
 * @param groups its groups, the one of all ranks first
 */
public record RankTrace(int rank, long generation, long takenNanos, long clockOffsetNanos, List<GroupTrace> groups) {

	/** Groups that are told of; more than that are many small ones. */
	public static final int MAX_GROUPS = 64;

	public RankTrace {
		groups = List.copyOf(groups);
	}

	/**
	 * The account of this process.
	 * @param rank its rank among all
	 * @param limit how many calls of each group are told at most
	 */
	public static RankTrace take(int rank, long generation, Collection<DefaultProcessGroup> groups, int limit) {
		long nanos = System.nanoTime();
		Instant now = Instant.now();
		long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
		List<GroupTrace> accounts = groups.stream()
			.map((group) -> GroupTrace.of(group, limit))
			.sorted(Comparator.<GroupTrace>comparingInt((account) -> -account.members().size())
				.thenComparing(GroupTrace::group))
			.limit(MAX_GROUPS)
			.toList();
		return new RankTrace(rank, generation, nanos, epochNanos - nanos, accounts);
	}

	/** A time of this rank in nanoseconds since 1970. */
	public long epochNanos(long nanos) {
		return nanos + this.clockOffsetNanos;
	}

	/** The account of a group, {@code null} if there is none. */
	public @Nullable GroupTrace group(String name) {
		return this.groups.stream().filter((group) -> group.group().equals(name)).findFirst().orElse(null);
	}

}
