package io.tutti.service.rest;

/**
 * A body, or the answer to it, exceeds this rank's limit.
 */
final class BodyTooLargeException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	BodyTooLargeException(String what, long maxBytes) {
		super(what + "; at most " + maxBytes + " are taken (tutti.http-collectives.max-bytes)");
	}

}
