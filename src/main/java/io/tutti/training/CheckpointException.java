package io.tutti.training;

import org.jspecify.annotations.Nullable;

/**
 * A checkpoint that cannot be continued from, or could not be kept. The file that was
 * there before is untouched.
 */
public final class CheckpointException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	CheckpointException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
