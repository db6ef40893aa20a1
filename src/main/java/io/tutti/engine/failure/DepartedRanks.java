package io.tutti.engine.failure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.tutti.Failure;

/**
 * The ranks that have left a group in an orderly way, and the last collective that each
 * of them completed. A call that such a rank has completed can still succeed; a later one
 * cannot. Safe for any number of threads. While no rank has left, a check costs one
 * volatile read.
 */
public final class DepartedRanks {

	/** Value of the last completed call for a rank that has completed none. */
	public static final long NONE_COMPLETED = -1;

	private static final String LEFT = "it has left the group";

	private record Departure(long lastCompleted, long sinceNanos) {
	}

	/** Whether rank 0, which announces who leaves a group, has left the job. */
	private volatile boolean unannounced;

	/** By world rank; copy-on-write. */
	private volatile Map<Integer, Departure> departures = Map.of();

	/**
	 * Records that a rank has left. Of several records of a rank, the first sets the
	 * time, and one with a number replaces one without.
	 * @param lastCompleted sequence number of the last collective that it has completed,
	 * {@link #NONE_COMPLETED} for none or if it is not known
	 */
	public synchronized void add(int worldRank, long lastCompleted) {
		Map<Integer, Departure> more = new HashMap<>(this.departures);
		more.merge(worldRank, new Departure(lastCompleted, System.nanoTime()), (first,
				later) -> new Departure(Math.max(first.lastCompleted(), later.lastCompleted()), first.sinceNanos()));
		this.departures = Map.copyOf(more);
	}

	/**
	 * The kind of failure when a call needs a rank that has left the group. Without the
	 * group of all ranks a rank is lost; one that a subgroup misses may still run, since
	 * the call does not tell whether it has left the job too.
	 */
	public static Failure.Kind failureOf(String group) {
		return group.equals(Failure.WORLD) ? Failure.Kind.PEER_LOST : Failure.Kind.ABORTED;
	}

	/**
	 * The failure of a request that needs ranks which have left the group of all ranks.
	 */
	public static Failure peerLost(List<Integer> worldRanks) {
		return Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, worldRanks, LEFT);
	}

	/** Rank 0 has left the job: nobody announces further departures. */
	public void endAnnouncements() {
		this.unannounced = true;
	}

	/** Whether a rank has left, or may have left unannounced. */
	public boolean mayContain(int worldRank) {
		return this.unannounced || contains(worldRank);
	}

	/** Whether no rank has left. */
	public boolean isEmpty() {
		return this.departures.isEmpty();
	}

	/** Whether a rank has left. */
	public boolean contains(int worldRank) {
		return this.departures.containsKey(worldRank);
	}

	/** Whether a rank's departure has been known for at least that long. */
	public boolean isAbsentFor(int worldRank, Duration atLeast) {
		Departure departure = this.departures.get(worldRank);
		return departure != null && System.nanoTime() - departure.sinceNanos() >= atLeast.toNanos();
	}

	/** Whether a rank has left after it had completed this collective. */
	public boolean hasCompleted(int worldRank, long sequence) {
		Departure departure = this.departures.get(worldRank);
		return departure != null && departure.lastCompleted() >= sequence;
	}

	/**
	 * The lowest world rank that has left without completing this collective, -1 for
	 * none.
	 */
	public int missingFrom(long sequence) {
		Map<Integer, Departure> known = this.departures;
		if (known.isEmpty()) {
			return -1;
		}
		int lowest = -1;
		for (Map.Entry<Integer, Departure> entry : known.entrySet()) {
			if (entry.getValue().lastCompleted() < sequence && (lowest < 0 || entry.getKey() < lowest)) {
				lowest = entry.getKey();
			}
		}
		return lowest;
	}

	/** Describes the departure of a rank and the last collective that it completed. */
	public String describe(int worldRank) {
		Departure departure = this.departures.get(worldRank);
		return LEFT + ((departure != null && departure.lastCompleted() != NONE_COMPLETED)
				? "; the last collective that it completed there is #" + departure.lastCompleted()
				: " before it had completed a collective there");
	}

}
