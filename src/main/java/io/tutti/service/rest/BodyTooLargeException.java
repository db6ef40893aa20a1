package io.tutti.service.rest;

import org.springframework.http.HttpStatus;

/**
 * A body, or the answer to it, exceeds the limit.
 */
final class BodyTooLargeException extends ProblemException {

	private static final long serialVersionUID = 1L;

	BodyTooLargeException(String what, long maxBytes) {
		super(HttpStatus.CONTENT_TOO_LARGE, ProblemType.INVALID_ARGUMENT,
				what + "; the limit is " + maxBytes + " (tutti.http-collectives.max-bytes)");
	}

}
