package io.tutti.training.checkpoint;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a job cannot continue from a checkpoint or cannot write one. An existing
 * checkpoint stays unchanged.
 */
public final class CheckpointException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final int exitCode;

	private final boolean knownToAll;

	private CheckpointException(int exitCode, boolean knownToAll, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.exitCode = exitCode;
		this.knownToAll = knownToAll;
	}

	/**
	 * A failure that every rank throws.
	 * @param exitCode the exit code of the ranks
	 * @param reason what failed and the action to take
	 * @param own the failure of this rank, if any
	 * @return the exception
	 */
	public static CheckpointException onEveryRank(int exitCode, String reason, @Nullable Throwable own) {
		return new CheckpointException(exitCode, true, reason, own);
	}

	/** A failure that only this rank knows of. */
	static CheckpointException onThisRank(int exitCode, String reason, @Nullable Throwable cause) {
		return new CheckpointException(exitCode, false, reason, cause);
	}

	/**
	 * A checkpoint that this rank cannot read or write, which may be so for a time.
	 * @param reason the path, what failed and the action to take
	 * @param cause the failure of the file system
	 * @return an exception with {@link ExitCode#INTERNAL}
	 */
	public static CheckpointException onThisRank(String reason, @Nullable Throwable cause) {
		return onThisRank(ExitCode.INTERNAL, reason, cause);
	}

	/**
	 * {@return whether every rank throws this exception}
	 */
	public boolean isKnownToAll() {
		return this.knownToAll;
	}

	/**
	 * {@link ExitCode#BAD_CONFIGURATION} for a checkpoint that is damaged, of another job
	 * or of a step after the job's last one, and for a directory that is in use or is
	 * none, otherwise {@link ExitCode#INTERNAL}, since a restart may succeed.
	 */
	@Override
	public int exitCode() {
		return this.exitCode;
	}

}
