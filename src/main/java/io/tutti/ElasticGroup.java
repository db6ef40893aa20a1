package io.tutti;

import java.util.function.Consumer;

/**
 * A group that continues without lost ranks. When a rank is lost, the remaining ranks
 * form the next generation of the group in the same processes, bring the ranks that are
 * behind up to the newest state, and run the loop again. A process that was started later
 * joins between two steps and receives its state from a live rank. The rank and the world
 * size of a process may differ from generation to generation.
 * <p>
 * <b>Which ranks continue.</b> Only the members of the last generation that are not known
 * to be dead count. A majority of them continues, or exactly half of them if it contains
 * the lowest rank. The other ranks fail with exit code {@link ExitCode#DEADLINE_PASSED}.
 * Therefore a job never has two groups.
 * <p>
 * <b>Threads.</b> {@link #run} and {@link #commit} are called by one thread; the other
 * methods by any thread. A process can have one such group at a time.
 */
public interface ElasticGroup extends AutoCloseable {

	/**
	 * Prepares this process's membership from the same variables and properties as
	 * {@link ProcessGroup#fromEnvironment()}, and from {@code tutti.elastic.min-ranks},
	 * {@code max-ranks}, {@code settle}, {@code max-failures}, {@code quorum} and
	 * {@code endpoints}. The group forms in {@link #run}.
	 * @return this process's membership
	 * @throws BadConfigurationException if a property is missing, invalid or misspelt
	 * @throws RuntimeException with an exit code of its own ({@link ExitCode#of}) if the
	 * launcher's variables are malformed or it ends the remaining ranks
	 */
	static ElasticGroup fromEnvironment() {
		return fromEnvironment(new StderrListener());
	}

	/**
	 * As {@link #fromEnvironment()} for a program that has its own log.
	 * @param listener receives events from rendezvous on
	 * @return this process's membership
	 */
	static ElasticGroup fromEnvironment(CollectiveListener listener) {
		return EnvironmentGroups.load().joinElastic(listener);
	}

	/**
	 * Runs a loop on every rank until it returns. After a lost rank and after a
	 * {@link MembershipChangedException} the ranks form the next generation, agree on the
	 * state, and run the loop again from {@link ElasticState#step()}. All ranks return
	 * together: if a rank is lost before all loops have returned, the loops run again.
	 * With an exception this rank leaves the job.
	 * @param <R> type of the result
	 * @param state the state that the loop changes
	 * @param loop the loop; it returns when {@link ElasticState#step()} has reached the
	 * last step, also if it has reached it before
	 * @return the result of the last run of the loop
	 * @throws CollectiveException if ranks disagree on a step or on the state, if the
	 * group was aborted, or if more ranks were lost than allowed
	 * @throws RuntimeException if the group cannot form, which includes this rank being
	 * on the side of a partition that may not continue; or the exception of the loop,
	 * with a checked one as the cause. The exception of a loop ends the job on every
	 * rank.
	 */
	<R> R run(ElasticState state, ElasticLoop<R> loop);

	/**
	 * Ends a step, after {@link ElasticState#step()} has advanced. A collective call of
	 * the loop.
	 * @throws MembershipChangedException if processes wait to join; the loop lets it pass
	 * @throws CollectiveMismatchException if the ranks are at different steps; names them
	 * @throws CollectiveException if a rank is lost; the loop lets it pass
	 * @throws IllegalStateException outside of a loop
	 */
	void commit();

	/**
	 * The group of the current generation. A group that has broken stays broken.
	 * @return the group of the current generation
	 * @throws IllegalStateException before the first generation has formed
	 */
	ProcessGroup group();

	/**
	 * The number of the current generation, -1 before the first has formed. It increases
	 * with each generation, not always by one.
	 * @return the number of the current generation
	 */
	long generation();

	/**
	 * Adds a listener to this rank's events. It is called on the thread of {@link #run},
	 * must return quickly and must not throw.
	 * @param listener receives the events
	 */
	void onEvent(Consumer<ElasticEvent> listener);

	/**
	 * Leaves the group and releases all resources. Must not be called by the loop.
	 */
	@Override
	void close();

}
