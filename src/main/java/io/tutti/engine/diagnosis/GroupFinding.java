package io.tutti.engine.diagnosis;

import java.util.List;

/**
 * The diagnosis of one group from the traces of all ranks.
 *
 * @param kind the group's state
 * @param group name of the group
 * @param sequence sequence number of the call concerned, -1 for none
 * @param ranks the world ranks concerned, by rank; may be empty
 * @param arrivals how late each rank was at the calls that are in all traces; empty
 * without such calls
 * @param text the finding as text
 */
public record GroupFinding(Kind kind, String group, long sequence, List<Integer> ranks, List<Arrival> arrivals,
		String text) {

	/** The state of a group, the most urgent first. */
	public enum Kind {

		/** Ranks called different collectives at the same sequence number. */
		MISMATCH,
		/** Ranks wait for ranks that have not entered the call. */
		MISSING,
		/** All ranks have entered a call that takes long. */
		LONG_CALL,
		/** One rank is late repeatedly. */
		STRAGGLING,
		/** Calls complete. */
		MOVING,
		/** No rank has made a call. */
		IDLE

	}

	/**
	 * How late a rank was at the calls that are in all traces.
	 *
	 * @param rank the world rank
	 * @param meanMicros microseconds after the first rank, on average
	 * @param maxMicros microseconds after the first rank, at most
	 * @param timesLast number of calls that it entered last
	 */
	public record Arrival(int rank, long meanMicros, long maxMicros, int timesLast) {
	}

	public GroupFinding {
		ranks = List.copyOf(ranks);
		arrivals = List.copyOf(arrivals);
	}

	/** Whether the finding needs attention. */
	public boolean isTrouble() {
		return switch (this.kind) {
			case MISMATCH, MISSING, LONG_CALL, STRAGGLING -> true;
			case MOVING, IDLE -> false;
		};
	}

}
