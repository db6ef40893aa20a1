package io.tutti;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Communication failed. One failure breaks the group on every rank, and a broken group is
 * never usable again; only a send, receive or probe whose deadline passes before a
 * message has matched fails alone. {@link #failure()} holds the details as data; code
 * should not parse the message.
 */
public abstract sealed class CollectiveException extends RuntimeException implements ExitCode.Source, Failure.Origin
		permits CollectiveTimeoutException, CollectiveMismatchException, PeerLostException, GroupAbortedException {

	private static final long serialVersionUID = 1L;

	/** What happened. */
	private final Failure failure;

	/** The rank that the exception is about. */
	private final int rank;

	/** Number of ranks. */
	private final int worldSize;

	CollectiveException(int rank, int worldSize, Failure failure, String where, String hint,
			@Nullable Throwable cause) {
		super("rank " + rank + ": " + failure.describe() + where + ". " + hint, cause);
		this.rank = rank;
		this.worldSize = worldSize;
		this.failure = failure;
	}

	/**
	 * The exception for a failure, of the subclass for its kind. Public for
	 * implementations of groups, since the subclasses have no public constructors;
	 * programs only catch them.
	 * @param rank the rank, among all ranks of the job, that throws it
	 * @param worldSize number of ranks of the job
	 * @param failure what happened
	 * @param cause cause of the exception, null for none
	 * @return the exception for a failure
	 */
	public static CollectiveException of(int rank, int worldSize, Failure failure, @Nullable Throwable cause) {
		return of(rank, worldSize, failure, "", cause);
	}

	private static CollectiveException of(int rank, int worldSize, Failure failure, String where,
			@Nullable Throwable cause) {
		return switch (failure.kind()) {
			case TIMEOUT -> new CollectiveTimeoutException(rank, worldSize, failure, where, cause);
			case MISMATCH -> new CollectiveMismatchException(rank, worldSize, failure, where, cause);
			case PEER_LOST -> new PeerLostException(rank, worldSize, failure, where, cause);
			case ABORTED -> new GroupAbortedException(rank, worldSize, failure, where, cause);
		};
	}

	/**
	 * The same failure with this rank's operation in the message. Public for
	 * implementations of groups, which learn of failures in one thread and throw them in
	 * another.
	 * @param what description of the call, send or receive
	 * @param elapsed time since it started
	 * @return the same failure with this rank's operation in the message
	 */
	public CollectiveException during(String what, Duration elapsed) {
		String where = " (this rank was in " + what + " for " + elapsed.toMillis() + " ms)";
		return of(this.rank, this.worldSize, this.failure, where, getCause());
	}

	/**
	 * What happened, the same on every rank.
	 * @return what happened, the same on every rank
	 */
	public Failure failure() {
		return this.failure;
	}

	/**
	 * The rank, among all ranks of the job, that threw this.
	 * @return the rank, among all ranks of the job, that threw this
	 */
	@Override
	public int rank() {
		return this.rank;
	}

	/**
	 * Number of ranks of the job.
	 * @return number of ranks of the job
	 */
	@Override
	public int worldSize() {
		return this.worldSize;
	}

	/**
	 * The ranks of the job that are at fault: lost, missing, in disagreement or aborting.
	 * May be empty.
	 * @return the ranks of the job that are at fault: lost, missing, in disagreement or
	 * aborting
	 */
	@Override
	public List<Integer> peers() {
		return this.failure.ranks();
	}

	/**
	 * The name of the group in which the failure happened.
	 * @return the name of the group in which the failure happened
	 */
	@Override
	public String group() {
		return this.failure.group();
	}

	/**
	 * The collective that failed, {@code null} outside of a collective.
	 * @return the collective that failed, {@code null} outside of a collective
	 */
	@Override
	public @Nullable Collective collective() {
		return this.failure.collective();
	}

	/**
	 * The collective's number in its group, -1 outside of a collective.
	 * @return the collective's number in its group, -1 outside of a collective
	 */
	@Override
	public long sequence() {
		return this.failure.sequence();
	}

	@Override
	public int exitCode() {
		return ExitCode.of(this.failure);
	}

}
