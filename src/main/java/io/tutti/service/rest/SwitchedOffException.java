package io.tutti.service.rest;

/**
 * The request asks for what is switched off here, or what the backend cannot do.
 */
final class SwitchedOffException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	SwitchedOffException(String message) {
		super(message);
	}

}
