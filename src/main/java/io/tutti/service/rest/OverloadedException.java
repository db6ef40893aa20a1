package io.tutti.service.rest;

/**
 * This rank has no room for the request now; it may be sent again.
 */
final class OverloadedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	OverloadedException(String message) {
		super(message);
	}

}
