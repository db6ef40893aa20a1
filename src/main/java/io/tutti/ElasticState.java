package io.tutti;

/**
 * The state that the loop of an {@link ElasticGroup} changes, the same on every rank
 * after each step: parameters, optimizer state, random state and data position. Called on
 * the thread of {@link ElasticGroup#run}.
 */
public interface ElasticState {

	/**
	 * Number of the last step that is complete on this rank, 0 at the start. Never less
	 * than before, except after {@link #synchronize}.
	 * @return the last complete step
	 */
	long step();

	/**
	 * Restores what an incomplete step has modified, so that the next step starts from
	 * the state after step {@link #step()}. Does nothing if no step has begun. Not a
	 * collective.
	 */
	void rollback();

	/**
	 * Replaces the state of all ranks, {@link #step()} included, by that of one rank. A
	 * collective of all ranks. Compares the shapes before it changes anything, and
	 * receives everything before it replaces anything: if the source is lost meanwhile, a
	 * rank whose {@link #digest()} has not changed keeps its state, and the ranks repeat
	 * the step. A rank with part of the other state counts as one without state.
	 * @param group the group of this generation
	 * @param source the rank whose state all ranks take
	 * @throws RuntimeException if the shapes differ, which ends the job; or a
	 * {@link CollectiveException}
	 */
	void synchronize(ProcessGroup group, int source);

	/**
	 * A hash of the whole state, equal on ranks with equal state. Ranks compare it when a
	 * generation has formed. Not a collective.
	 * @return the hash, of any length
	 */
	byte[] digest();

	/**
	 * A generation has formed and every rank has the same state. Called before each run
	 * of the loop, to create what depends on the group. A collective of all ranks.
	 * @param group the group of this generation
	 */
	default void reset(ProcessGroup group) {
	}

}
