package io.tutti.engine.control;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which ranks are there and where they were last seen, as rank 0 knows it. A rank that
 * has gone stays gone.
 */
final class RankLiveness {

	private final PeerStatus.State[] states;

	private final LastHeartbeat[] sights;

	private int up;

	RankLiveness(int worldSize) {
		this.states = new PeerStatus.State[worldSize];
		Arrays.fill(this.states, PeerStatus.State.UP);
		this.sights = Stream.generate(LastHeartbeat::new).limit(worldSize).toArray(LastHeartbeat[]::new);
		this.up = worldSize;
	}

	int worldSize() {
		return this.states.length;
	}

	/** Whether it is a rank of this group at all. */
	boolean holds(int rank) {
		return rank >= 0 && rank < this.states.length;
	}

	PeerStatus.State of(int rank) {
		return this.states[rank];
	}

	boolean isUp(int rank) {
		return this.states[rank] == PeerStatus.State.UP;
	}

	/**
	 * A rank goes.
	 * @return whether it was there until now
	 */
	boolean gone(int rank, PeerStatus.State how) {
		if (!isUp(rank)) {
			return false;
		}
		this.states[rank] = how;
		this.up--;
		return true;
	}

	/** A rank gives a sign of life. */
	void seen(int rank, List<RankProgress> progress, long nowNanos) {
		this.sights[rank].take(progress, nowNanos);
	}

	/** Where a rank was last seen in a group, in words. */
	String lastSeen(int rank, String group, long nowNanos) {
		return this.sights[rank].in(group, nowNanos);
	}

	/** How many ranks are there. */
	int up() {
		return this.up;
	}

}
