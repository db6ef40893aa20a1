package io.tutti.training.job;

import java.io.IOException;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the report cannot be written to the requested path.
 */
public final class ReportException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final transient @Nullable TrainingSummary summary;

	/**
	 * Creates an exception before training.
	 * @param message the file, the reason and the action to take
	 * @param cause the failure of the file system, {@code null} for a file that cannot
	 * exist
	 */
	public ReportException(String message, @Nullable Throwable cause) {
		this(message, cause, null);
	}

	ReportException(String message, @Nullable Throwable cause, @Nullable TrainingSummary summary) {
		super(message, cause);
		this.summary = summary;
	}

	/**
	 * What the report was to contain.
	 * @return the summary, {@code null} if no training has taken place
	 */
	public @Nullable TrainingSummary summary() {
		return this.summary;
	}

	/**
	 * {@link ExitCode#INTERNAL} if the file system refuses the file, as a full disk does,
	 * since a restart may succeed; otherwise {@link ExitCode#BAD_CONFIGURATION}.
	 */
	@Override
	public int exitCode() {
		return (getCause() instanceof IOException) ? ExitCode.INTERNAL : ExitCode.BAD_CONFIGURATION;
	}

}
