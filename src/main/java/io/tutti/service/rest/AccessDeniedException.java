package io.tutti.service.rest;

/**
 * A request that changes something came without the token, or with another one.
 */
final class AccessDeniedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final boolean presented;

	AccessDeniedException(boolean presented) {
		super(presented ? "the token is wrong" : "this request needs the job's token");
		this.presented = presented;
	}

	/** Whether a token came at all. */
	boolean presented() {
		return this.presented;
	}

}
