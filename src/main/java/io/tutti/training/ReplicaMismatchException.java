package io.tutti.training;

import io.tutti.ExitCode;

/**
 * Thrown if ranks differ in model, options, data or trained parameters. Thrown on every
 * rank, with the same message.
 */
public final class ReplicaMismatchException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what differs, and on which rank
	 */
	public ReplicaMismatchException(String message) {
		super(message);
	}

	@Override
	public int exitCode() {
		return ExitCode.MISMATCH;
	}

}
