package io.tutti;

/**
 * The steps of a job, run again in each generation of an {@link ElasticGroup}. The loop
 * uses only the group that it is given, calls {@link ElasticGroup#commit()} after each
 * step, and lets {@link CollectiveException} and {@link MembershipChangedException} pass,
 * as such or as the cause of another exception.
 *
 * @param <R> type of the result
 */
@FunctionalInterface
public interface ElasticLoop<R> {

	/**
	 * Runs the steps that the state has not committed yet.
	 * @param group the group of this generation
	 * @return the result
	 * @throws Exception ends the job on every rank, unless it is caused by a
	 * {@link CollectiveException} or {@link MembershipChangedException}
	 */
	R run(ProcessGroup group) throws Exception;

}
