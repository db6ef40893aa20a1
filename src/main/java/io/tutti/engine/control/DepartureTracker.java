package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Which ranks have left which groups. Rank 0 tells those that are still in a group, so
 * that none of them waits for a rank that has left, whatever carries their data. Ranks
 * mostly leave a group together, at its end: news is collected for a moment, and a group
 * that everybody has left by then concerns nobody. Waits for nothing itself: somebody
 * must call {@link #tick()}. Not thread safe.
 */
final class DepartureTracker {

	/** Hears what ranks are to be told. */
	interface Listener {

		/** A rank is to be told who has left groups that it is in. */
		void departed(int rank, List<Departure> news);

	}

	/** How long news is collected: less than anybody notices. */
	static final Duration COLLECTING = Duration.ofMillis(20);

	/** A group that some of its ranks have left. */
	private record Group(BitSet members, BitSet left) {
	}

	private final RankLiveness liveness;

	private final LongSupplier nanoClock;

	private final Listener listener;

	private final Map<String, Group> groups = new HashMap<>();

	private final List<Departure> news = new ArrayList<>();

	private long dueNanos;

	DepartureTracker(RankLiveness liveness, LongSupplier nanoClock, Listener listener) {
		this.liveness = liveness;
		this.nanoClock = nanoClock;
		this.listener = listener;
	}

	/**
	 * A rank has left a group.
	 * @param members the group's world ranks; none for the group of all ranks
	 */
	void left(Departure departure, List<Integer> members) {
		Group group = this.groups.computeIfAbsent(departure.group(), (name) -> new Group(known(members), new BitSet()));
		if (!group.left().get(departure.rank())) {
			group.left().set(departure.rank());
			collect(departure);
		}
	}

	private BitSet known(List<Integer> members) {
		BitSet known = new BitSet();
		members.stream().filter(this.liveness::holds).forEach(known::set);
		if (members.isEmpty()) {
			known.set(0, this.liveness.worldSize());
		}
		return known;
	}

	/** A rank has left the job. */
	void left(int rank) {
		collect(Departure.fromEveryGroup(rank));
	}

	private void collect(Departure departure) {
		if (this.news.isEmpty()) {
			this.dueNanos = this.nanoClock.getAsLong() + COLLECTING.toNanos();
		}
		this.news.add(departure);
	}

	/** Whether a rank has left a group in which others still are. */
	boolean hasLeft(int rank, String group) {
		Group known = this.groups.get(group);
		return known != null && known.left().get(rank);
	}

	/** Tells the news if it has been collected long enough. */
	void tick() {
		if (nanosUntilDue() == 0) {
			tell();
		}
	}

	/**
	 * Nanoseconds until {@link #tick()} has something to do, {@link Long#MAX_VALUE} if
	 * there is no news.
	 */
	long nanosUntilDue() {
		return this.news.isEmpty() ? Long.MAX_VALUE : Math.max(0, this.dueNanos - this.nanoClock.getAsLong());
	}

	/** Tells the news now, in the order in which it came. */
	void tell() {
		for (int rank = 0; rank < this.liveness.worldSize() && !this.news.isEmpty(); rank++) {
			if (this.liveness.isUp(rank)) {
				tell(rank);
			}
		}
		this.news.clear();
		this.groups.values().removeIf((group) -> group.members().stream().allMatch((rank) -> isOutOf(group, rank)));
	}

	private void tell(int rank) {
		List<Departure> concerning = this.news.stream().filter((departure) -> concerns(departure, rank)).toList();
		if (!concerning.isEmpty()) {
			this.listener.departed(rank, concerning);
		}
	}

	private boolean concerns(Departure departure, int rank) {
		if (departure.group().equals(Departure.EVERY_GROUP)) {
			return true;
		}
		Group group = this.groups.get(departure.group());
		return group != null && group.members().get(rank) && !group.left().get(rank);
	}

	private boolean isOutOf(Group group, int rank) {
		return group.left().get(rank) || !this.liveness.isUp(rank);
	}

}
