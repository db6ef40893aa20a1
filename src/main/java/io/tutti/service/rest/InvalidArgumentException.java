package io.tutti.service.rest;

/**
 * A well-formed request with an invalid argument; the message names the value and the
 * allowed range.
 */
final class InvalidArgumentException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	InvalidArgumentException(String message) {
		super(message);
	}

}
