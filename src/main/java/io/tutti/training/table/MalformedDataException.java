package io.tutti.training.table;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a table or other data cannot be read or used for training. The message names
 * the file and, if known, the line and the column.
 */
public final class MalformedDataException extends IllegalArgumentException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception; a task may throw it too.
	 * @param message what is wrong, and where
	 */
	public MalformedDataException(String message) {
		this(message, null);
	}

	MalformedDataException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_DATA;
	}

}
