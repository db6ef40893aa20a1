package io.tutti.service.rest;

/**
 * A request that can be read but asks for something that cannot be; the message names the
 * value and the allowed range.
 */
final class InvalidArgumentException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	InvalidArgumentException(String message) {
		super(message);
	}

}
