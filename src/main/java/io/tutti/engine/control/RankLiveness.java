package io.tutti.engine.control;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The state and last heartbeat of every rank, as known to rank 0. A rank that has left or
 * is lost never comes up again.
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

	/** Whether the number is a rank of this world. */
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
	 * A rank has left or is lost.
	 * @return whether it was up until now
	 */
	boolean gone(int rank, PeerStatus.State how) {
		if (!isUp(rank)) {
			return false;
		}
		this.states[rank] = how;
		this.up--;
		return true;
	}

	/** A rank has sent a heartbeat. */
	void seen(int rank, List<RankProgress> progress, long nowNanos) {
		this.sights[rank].take(progress, nowNanos);
	}

	/** A rank's last known call in a group, for an error message. */
	String lastSeen(int rank, String group, long nowNanos) {
		return this.sights[rank].in(group, nowNanos);
	}

	/** The number of ranks that are up. */
	int up() {
		return this.up;
	}

}
