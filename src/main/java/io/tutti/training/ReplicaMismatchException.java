package io.tutti.training;

/**
 * Thrown if ranks differ in model, options, data or trained parameters. Thrown on every
 * rank, with the same message.
 */
public final class ReplicaMismatchException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReplicaMismatchException(String message) {
		super(message);
	}

}
