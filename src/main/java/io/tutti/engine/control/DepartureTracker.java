package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.failure.DepartedRanks;

/**
 * Tracks which ranks have left which groups. Rank 0 informs the remaining ranks of a
 * group, so that on any transport no rank waits for a rank that has left. Ranks mostly
 * leave a group together, so departures are collected for a short time and sent only to
 * ranks still in the group. Never blocks: the owner must call {@link #tick()}. Not thread
 * safe.
 */
final class DepartureTracker {

	/** How long departures are collected. */
	static final Duration COLLECTING = Duration.ofMillis(20);

	/** A group that some of its ranks have left. */
	private record Group(BitSet members, DepartedRanks left) {
	}

	private static final DepartedRanks NONE = new DepartedRanks();

	private final PeerTable peers;

	private final LongSupplier nanoClock;

	private final Coordinator.Downlink downlink;

	private final Map<String, Group> groups = new HashMap<>();

	private final List<Departure> collected = new ArrayList<>();

	private long dueNanos;

	DepartureTracker(PeerTable peers, LongSupplier nanoClock, Coordinator.Downlink downlink) {
		this.peers = peers;
		this.nanoClock = nanoClock;
		this.downlink = downlink;
	}

	/**
	 * A rank has left a group.
	 * @param members the group's world ranks, empty for the world group
	 */
	void left(Departure departure, List<Integer> members) {
		Group group = this.groups.computeIfAbsent(departure.group(),
				(name) -> new Group(known(members), new DepartedRanks()));
		if (!group.left().contains(departure.rank())) {
			group.left().add(departure.rank(), departure.lastCompleted());
			collect(departure);
		}
	}

	private BitSet known(List<Integer> members) {
		BitSet known = new BitSet();
		members.stream().filter(this.peers::holds).forEach(known::set);
		if (members.isEmpty()) {
			known.set(0, this.peers.worldSize());
		}
		return known;
	}

	/** A rank has left the job. */
	void left(int rank) {
		collect(Departure.fromEveryGroup(rank));
	}

	private void collect(Departure departure) {
		if (this.collected.isEmpty()) {
			this.dueNanos = this.nanoClock.getAsLong() + COLLECTING.toNanos();
		}
		this.collected.add(departure);
	}

	/** The ranks that have left a group that other ranks are still in. */
	DepartedRanks from(String group) {
		Group known = this.groups.get(group);
		return (known != null) ? known.left() : NONE;
	}

	/** Sends the collected departures if they are due. */
	void tick() {
		if (nanosUntilDue() == 0) {
			flush();
		}
	}

	/**
	 * Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} without departures
	 * to send.
	 */
	long nanosUntilDue() {
		return this.collected.isEmpty() ? Long.MAX_VALUE : Math.max(0, this.dueNanos - this.nanoClock.getAsLong());
	}

	/** Sends the collected departures now, in order of arrival. */
	void flush() {
		for (int rank = 0; rank < this.peers.worldSize() && !this.collected.isEmpty(); rank++) {
			if (this.peers.isUp(rank)) {
				flush(rank);
			}
		}
		this.collected.clear();
		this.groups.values().removeIf((group) -> group.members().stream().allMatch((rank) -> isOutOf(group, rank)));
	}

	private void flush(int rank) {
		List<Departure> concerning = this.collected.stream().filter((departure) -> concerns(departure, rank)).toList();
		if (!concerning.isEmpty()) {
			this.downlink.send(rank, new Departed(concerning));
		}
	}

	private boolean concerns(Departure departure, int rank) {
		if (departure.group().equals(Departure.EVERY_GROUP)) {
			return true;
		}
		Group group = this.groups.get(departure.group());
		return group != null && group.members().get(rank) && !group.left().contains(rank);
	}

	private boolean isOutOf(Group group, int rank) {
		return group.left().contains(rank) || !this.peers.isUp(rank);
	}

}
