package io.tutti.engine.control;

import io.tutti.engine.failure.DepartedRanks;

/**
 * A rank has left a group in order.
 *
 * @param group name of the group, {@link #EVERY_GROUP} if the rank has left the job
 * @param lastCompleted sequence number of the last collective that the rank completed
 * there, {@link DepartedRanks#NONE_COMPLETED} if there is none
 */
public record Departure(int rank, String group, long lastCompleted) {

	/**
	 * Instead of a group name: every group of the rank that it has not left before.
	 */
	public static final String EVERY_GROUP = "";

	/** A rank has left the job, and with it all its groups. */
	public static Departure fromEveryGroup(int rank) {
		return new Departure(rank, EVERY_GROUP, DepartedRanks.NONE_COMPLETED);
	}

}
