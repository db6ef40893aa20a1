package io.tutti;

/**
 * A backend that was asked for cannot carry collectives here; the message says why and
 * what to do. Never answered by falling back in silence.
 */
public final class BackendUnavailableException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String backend;

	private final String problem;

	private final String action;

	/**
	 * @param backend name of the backend, such as {@code nccl}
	 * @param problem what is missing or wrong, as the rest of a sentence
	 * @param action what to do about it, as a sentence with no full stop
	 */
	public BackendUnavailableException(String backend, String problem, String action) {
		super("backend " + backend + " is not available: " + problem + ". " + action);
		this.backend = backend;
		this.problem = problem;
		this.action = action;
	}

	/** Name of the backend. */
	public String backend() {
		return this.backend;
	}

	/** What is missing or wrong. */
	public String problem() {
		return this.problem;
	}

	/** What to do about it. */
	public String action() {
		return this.action;
	}

}
