package io.tutti.training.job;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the report cannot be written to the requested path.
 */
public final class ReportException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	ReportException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_CONFIGURATION;
	}

}
