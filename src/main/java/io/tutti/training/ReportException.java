package io.tutti.training;

import org.jspecify.annotations.Nullable;

/**
 * The report cannot be written where it was asked for.
 */
public final class ReportException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReportException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
