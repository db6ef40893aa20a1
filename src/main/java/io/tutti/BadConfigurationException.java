package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * A property or variable of this process is missing, invalid or refused. Thrown before
 * any data is sent. Its exit code is {@link ExitCode#BAD_CONFIGURATION}, since a restart
 * would fail the same way.
 */
public final class BadConfigurationException extends IllegalArgumentException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/** What is wrong, naming the value. */
	private final String problem;

	/** What to do about it. */
	private final @Nullable String action;

	/**
	 * Creates an exception.
	 * @param message the property at fault, its value and what is expected
	 * @param cause the reason
	 */
	public BadConfigurationException(String message, Throwable cause) {
		super(message, cause);
		this.problem = message;
		this.action = null;
	}

	/**
	 * Creates an exception with the action to take.
	 * @param problem the property at fault and its value
	 * @param action what to do about it, as a sentence with no full stop
	 */
	public BadConfigurationException(String problem, String action) {
		this(problem, action, null);
	}

	/**
	 * Creates an exception with the action to take and the reason.
	 * @param problem the property at fault and its value
	 * @param action what to do about it, as a sentence with no full stop
	 * @param cause the reason, {@code null} if there is no other exception
	 */
	public BadConfigurationException(String problem, String action, @Nullable Throwable cause) {
		super(problem + ". " + action, cause);
		this.problem = problem;
		this.action = action;
	}

	/**
	 * What is wrong.
	 * @return the property at fault and its value
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * What to do about it.
	 * @return a sentence, {@code null} if the problem states what is expected
	 */
	public @Nullable String action() {
		return this.action;
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_CONFIGURATION;
	}

}
