package io.tutti.engine.bootstrap;

import java.io.IOException;

/**
 * This process cannot listen at an endpoint.
 */
public final class ListenException extends IOException {

	private static final long serialVersionUID = 1L;

	/** What prevents it. */
	public enum Problem {

		/** The name has had no address until the deadline. */
		NAME,
		/** The addresses are not of this host. */
		ADDRESS,
		/** The host has no address of that family. */
		FAMILY,
		/** The port is in use or not permitted. */
		PORT

	}

	private final Problem problem;

	ListenException(Problem problem, String message, Exception cause) {
		super(message, cause);
		this.problem = problem;
	}

	/** What prevents it. */
	public Problem problem() {
		return this.problem;
	}

}
