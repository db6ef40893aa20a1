package io.tutti.training;

import org.jspecify.annotations.Nullable;

/**
 * A checkpoint that cannot be continued from, or could not be kept. The file that was
 * there before is untouched.
 */
public final class CheckpointException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final boolean knownToAll;

	private CheckpointException(String message, boolean knownToAll, @Nullable Throwable cause) {
		super(message, cause);
		this.knownToAll = knownToAll;
	}

	/** A checkpoint that every rank refuses together. */
	static CheckpointException refused(String reason) {
		return new CheckpointException(reason, true, null);
	}

	/** A checkpoint that rank 0 cannot keep. */
	static CheckpointException notKept(String reason, Throwable cause) {
		return new CheckpointException(reason, false, cause);
	}

	/** Whether every rank throws this. */
	boolean isKnownToAll() {
		return this.knownToAll;
	}

}
