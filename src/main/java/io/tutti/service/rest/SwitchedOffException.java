package io.tutti.service.rest;

/**
 * The request needs a feature that is switched off here or that the backend lacks.
 */
final class SwitchedOffException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	SwitchedOffException(String message) {
		super(message);
	}

}
