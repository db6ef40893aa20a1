package io.tutti.training.job;

import io.tutti.ExitCode;

/**
 * Thrown if the loss is not finite or implausibly large. The message suggests what to
 * change. Thrown on every rank after the same step.
 */
public final class TrainingDivergedException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	TrainingDivergedException(String message) {
		super(message);
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_DATA;
	}

}
