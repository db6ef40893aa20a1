package io.tutti.service.rest;

/**
 * This rank has no memory for the request now; the client may retry.
 */
final class OverloadedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	OverloadedException(String message) {
		super(message);
	}

}
