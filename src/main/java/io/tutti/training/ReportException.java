package io.tutti.training;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the report cannot be written to the requested path.
 */
public final class ReportException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReportException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
