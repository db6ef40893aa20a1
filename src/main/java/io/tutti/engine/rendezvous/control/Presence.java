package io.tutti.engine.rendezvous.control;

import java.util.Arrays;

import io.tutti.engine.rendezvous.PeerStatus;

/**
 * Which ranks are there, as rank 0 knows it. A rank that has gone stays gone.
 */
final class Presence {

	private final PeerStatus.State[] states;

	private int up;

	Presence(int worldSize) {
		this.states = new PeerStatus.State[worldSize];
		Arrays.fill(this.states, PeerStatus.State.UP);
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

	/** How many ranks are there. */
	int up() {
		return this.up;
	}

}
