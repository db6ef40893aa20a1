package io.tutti.training;

/**
 * Ranks that should hold the same thing do not: other models, other options, other data,
 * or parameters that drifted apart. Thrown on every rank, with the same message.
 */
public final class ReplicaMismatchException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReplicaMismatchException(String message) {
		super(message);
	}

}
