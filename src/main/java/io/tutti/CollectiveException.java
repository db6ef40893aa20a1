package io.tutti;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Communication failed. One failure breaks the group on every rank, and a broken group is
 * never usable again; only a send, receive or probe whose deadline passes before a
 * message has matched fails alone. {@link #failure()} holds the details as data; code
 * should not parse the message. Message and data name ranks by their number among all
 * ranks of the job, also in a subgroup.
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

	/** Name of the group. */
	private final String group;

	/** The collective that failed or was interrupted by the failure. */
	private final @Nullable Collective collective;

	/** The number of the collective in the group. */
	private final long sequence;

	CollectiveException(int rank, int worldSize, Failure failure, Place place, String hint, @Nullable Throwable cause) {
		super("rank " + rank + ": " + failure.describe() + place.text + ". " + hint, cause);
		boolean inCollective = failure.collective() == null && place.collective != null;
		this.rank = rank;
		this.worldSize = worldSize;
		this.failure = failure;
		this.group = inCollective ? place.group : failure.group();
		this.collective = inCollective ? place.collective : failure.collective();
		this.sequence = inCollective ? place.sequence : failure.sequence();
	}

	/**
	 * What this rank did when it learned of the failure.
	 *
	 * @param text addition to the message
	 * @param group name of the collective's group
	 * @param collective the collective, null for none
	 * @param sequence the collective's number in its group
	 */
	record Place(String text, String group, @Nullable Collective collective, long sequence) {

		static Place of(String text) {
			return new Place(text, "", null, -1);
		}

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
		return of(rank, worldSize, failure, Place.of(""), cause);
	}

	private static CollectiveException of(int rank, int worldSize, Failure failure, Place place,
			@Nullable Throwable cause) {
		return switch (failure.kind()) {
			case TIMEOUT -> new CollectiveTimeoutException(rank, worldSize, failure, place, cause);
			case MISMATCH -> new CollectiveMismatchException(rank, worldSize, failure, place, cause);
			case PEER_LOST -> new PeerLostException(rank, worldSize, failure, place, cause);
			case ABORTED -> new GroupAbortedException(rank, worldSize, failure, place, cause);
		};
	}

	/**
	 * The same failure with this rank's message in the text. Public for implementations
	 * of groups, which learn of failures in one thread and throw them in another.
	 * @param what description of the send or receive
	 * @param elapsed time since it started
	 * @return the same failure with this rank's operation in the text
	 */
	public CollectiveException during(String what, Duration elapsed) {
		return at(Place.of(text(what, elapsed)));
	}

	/**
	 * The same failure with this rank's collective in the text. If the failure happened
	 * outside of a collective, as the loss of a rank does, {@link #group},
	 * {@link #collective} and {@link #sequence} are those of this collective. Public for
	 * implementations of groups.
	 * @param what description of the call
	 * @param inGroup name of the call's group
	 * @param call the collective
	 * @param number the collective's number in its group
	 * @param elapsed time since it started
	 * @return the same failure with this rank's collective in the text and as data
	 */
	public CollectiveException during(String what, String inGroup, Collective call, long number, Duration elapsed) {
		return at(new Place(text(what, elapsed), inGroup, call, number));
	}

	private static String text(String what, Duration elapsed) {
		return " (this rank was in " + what + " for " + elapsed.toMillis() + " ms)";
	}

	private CollectiveException at(Place place) {
		return of(this.rank, this.worldSize, this.failure, place, getCause());
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
	 * The ranks of the job that are at fault: lost, missing, in disagreement or aborting,
	 * other than this one where there are others. May be empty.
	 * @return the ranks of the job that are at fault; {@link #failure} has all of them
	 */
	@Override
	public List<Integer> peers() {
		List<Integer> others = this.failure.ranks().stream().filter((peer) -> peer != this.rank).toList();
		return others.isEmpty() ? this.failure.ranks() : others;
	}

	/**
	 * The name of the group of this rank's collective, or of that in which the failure
	 * happened.
	 * @return name of the group; {@link #failure} has the one in which the failure
	 * happened
	 */
	@Override
	public String group() {
		return this.group;
	}

	/**
	 * The collective that failed, or that this rank was in when it learned of a failure
	 * outside of a collective, such as a lost rank. An all-gather for
	 * {@link ProcessGroup#allocate}, {@link ProcessGroup#free},
	 * {@link ProcessGroup#split} and {@link ProcessGroup#subgroup}.
	 * @return the collective, {@code null} outside of a collective
	 */
	@Override
	public @Nullable Collective collective() {
		return this.collective;
	}

	/**
	 * The collective's number in its group, -1 outside of a collective.
	 * @return the collective's number in its group, -1 outside of a collective
	 */
	@Override
	public long sequence() {
		return this.sequence;
	}

	@Override
	public int exitCode() {
		return this.failure.exitCode();
	}

}
