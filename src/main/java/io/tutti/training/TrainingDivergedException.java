package io.tutti.training;

/**
 * The loss is no longer a number, or implausibly large; the message says what to try.
 * Thrown on every rank after the same step.
 */
public final class TrainingDivergedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	TrainingDivergedException(String message) {
		super(message);
	}

}
