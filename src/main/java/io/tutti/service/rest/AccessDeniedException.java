package io.tutti.service.rest;

/**
 * A state-changing request without the token, or with a wrong one.
 */
final class AccessDeniedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final boolean presented;

	AccessDeniedException(boolean presented) {
		super(presented ? "the token is wrong" : "this request needs the job's token");
		this.presented = presented;
	}

	/** Whether the request has a token. */
	boolean presented() {
		return this.presented;
	}

}
