package io.tutti;

/**
 * The requested backend cannot run collectives in this process. The message states the
 * cause and the action to take. There is no silent fallback to another backend.
 */
public final class BackendUnavailableException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/** Name of the backend. */
	private final String backend;

	/** What is missing or wrong. */
	private final String problem;

	/** What to do about it. */
	private final String action;

	/**
	 * Creates the exception for a backend.
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

	/**
	 * Name of the backend.
	 * @return name of the backend
	 */
	public String backend() {
		return this.backend;
	}

	/**
	 * What is missing or wrong.
	 * @return what is missing or wrong
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * What to do about it.
	 * @return what to do about it
	 */
	public String action() {
		return this.action;
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_CONFIGURATION;
	}

}
