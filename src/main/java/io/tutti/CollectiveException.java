package io.tutti;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Communication failed. One failure breaks the group on every rank, and a broken group is
 * never usable again. {@link #failure()} holds the details as data; code should not parse
 * the message.
 */
public abstract sealed class CollectiveException extends RuntimeException
		permits CollectiveTimeoutException, CollectiveMismatchException, PeerLostException, GroupAbortedException {

	private static final long serialVersionUID = 1L;

	private final transient Failure failure;

	private final int rank;

	CollectiveException(int rank, Failure failure, String where, String hint, @Nullable Throwable cause) {
		super("rank " + rank + ": " + failure.describe() + where + ". " + hint, cause);
		this.rank = rank;
		this.failure = failure;
	}

	/** The exception for a failure, to be thrown on a rank. */
	public static CollectiveException of(int rank, Failure failure, @Nullable Throwable cause) {
		return of(rank, failure, "", cause);
	}

	private static CollectiveException of(int rank, Failure failure, String where, @Nullable Throwable cause) {
		return switch (failure.kind()) {
			case TIMEOUT -> new CollectiveTimeoutException(rank, failure, where, cause);
			case MISMATCH -> new CollectiveMismatchException(rank, failure, where, cause);
			case PEER_LOST -> new PeerLostException(rank, failure, where, cause);
			case ABORTED -> new GroupAbortedException(rank, failure, where, cause);
		};
	}

	/**
	 * The same failure with this rank's operation in the message.
	 * @param what description of the call, send or receive
	 * @param elapsed time since it started
	 */
	public CollectiveException during(String what, Duration elapsed) {
		String where = " (this rank was in " + what + " for " + elapsed.toMillis() + " ms)";
		return of(this.rank, this.failure, where, getCause());
	}

	/** What happened, the same on every rank. */
	public Failure failure() {
		return this.failure;
	}

	/** The rank that threw this. */
	public int rank() {
		return this.rank;
	}

}
