package io.tutti.training;

/**
 * Thrown if the loss is not finite or implausibly large. The message suggests what to
 * change. Thrown on every rank after the same step.
 */
public final class TrainingDivergedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	TrainingDivergedException(String message) {
		super(message);
	}

}
