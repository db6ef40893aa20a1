package io.tutti.training.checkpoint;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a job cannot continue from a checkpoint or cannot write one. An existing
 * checkpoint file stays unchanged.
 */
public final class CheckpointException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final boolean knownToAll;

	private CheckpointException(String message, boolean knownToAll, @Nullable Throwable cause) {
		super(message, cause);
		this.knownToAll = knownToAll;
	}

	/** A checkpoint that every rank rejects. */
	static CheckpointException rejected(String reason) {
		return new CheckpointException(reason, true, null);
	}

	/** The failure of a rank that every rank throws. */
	static CheckpointException onEveryRank(String reason, @Nullable Throwable own) {
		return new CheckpointException(reason, true, own);
	}

	/** A checkpoint that rank 0 cannot write. */
	static CheckpointException notWritten(String reason, Throwable cause) {
		return new CheckpointException(reason, false, cause);
	}

	/** A checkpoint that rank 0 cannot read after its check. */
	static CheckpointException notRead(String reason, Throwable cause) {
		return new CheckpointException(reason, false, cause);
	}

	/**
	 * {@return whether every rank throws this exception}
	 */
	public boolean isKnownToAll() {
		return this.knownToAll;
	}

	/** A checkpoint that only rank 0 cannot read or write may be so for a time only. */
	@Override
	public int exitCode() {
		return this.knownToAll ? ExitCode.BAD_CONFIGURATION : ExitCode.INTERNAL;
	}

}
