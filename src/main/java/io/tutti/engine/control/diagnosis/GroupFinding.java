package io.tutti.engine.control.diagnosis;

import java.util.List;

/**
 * What the accounts of all ranks say of one group.
 *
 * @param kind how it stands
 * @param group name of the group
 * @param sequence the call that this is about, -1 for none
 * @param ranks the world ranks that it points at, by rank; may be empty
 * @param arrivals how late each rank was at the calls that all remember; empty without
 * any
 * @param text the same in words
 */
public record GroupFinding(Kind kind, String group, long sequence, List<Integer> ranks, List<Arrival> arrivals,
		String text) {

	/** How a group stands, the most pressing first. */
	public enum Kind {

		/** Ranks called different collectives at the same place. */
		MISMATCH,
		/** Ranks wait for others that have not come. */
		MISSING,
		/** All have come to a call that takes long. */
		LONG_CALL,
		/** One rank comes late time after time. */
		STRAGGLING,
		/** Calls come and go. */
		MOVING,
		/** Nothing has been called. */
		IDLE

	}

	/**
	 * How late a rank was at the calls that all ranks remember.
	 *
	 * @param rank the world rank
	 * @param meanMicros microseconds after the first rank, on average
	 * @param maxMicros the same at its worst
	 * @param timesLast at how many calls it came last
	 */
	public record Arrival(int rank, long meanMicros, long maxMicros, int timesLast) {
	}

	public GroupFinding {
		ranks = List.copyOf(ranks);
		arrivals = List.copyOf(arrivals);
	}

	/** Whether somebody should look at it. */
	public boolean isTrouble() {
		return switch (this.kind) {
			case MISMATCH, MISSING, LONG_CALL, STRAGGLING -> true;
			case MOVING, IDLE -> false;
		};
	}

}
