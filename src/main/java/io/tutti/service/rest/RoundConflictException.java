package io.tutti.service.rest;

/**
 * A named round that cannot be joined: it is over, or was called with other parameters or
 * another body.
 */
final class RoundConflictException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	RoundConflictException(String message) {
		super(message);
	}

}
