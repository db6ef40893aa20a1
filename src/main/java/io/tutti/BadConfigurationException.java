package io.tutti;

/**
 * A property or variable of this process is missing, invalid or refused. Thrown before
 * any data is sent. Its exit code is {@link ExitCode#BAD_CONFIGURATION}, since a restart
 * would fail the same way.
 */
public final class BadConfigurationException extends IllegalArgumentException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param message the property at fault, its value and what is expected
	 * @param cause the reason
	 */
	public BadConfigurationException(String message, Throwable cause) {
		super(message, cause);
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_CONFIGURATION;
	}

}
