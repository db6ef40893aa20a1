package io.tutti.launch;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * The rank cannot be resolved: a variable or property is missing, malformed or out of
 * range. Bad configuration, exit code 64.
 */
public final class ResolutionException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final String variable;

	private final @Nullable String value;

	private final String expected;

	/**
	 * Creates an exception.
	 * @param variable the environment variable or property at fault
	 * @param value its value, {@code null} if it is not set
	 * @param expected the expected value
	 */
	public ResolutionException(String variable, @Nullable String value, String expected) {
		super(variable + ((value != null) ? "=" + value : " is not set") + ": expected " + expected);
		this.variable = variable;
		this.value = value;
		this.expected = expected;
	}

	/** The environment variable or property at fault. */
	public String variable() {
		return this.variable;
	}

	/** Its value, {@code null} if it is not set. */
	public @Nullable String value() {
		return this.value;
	}

	/** The expected value. */
	public String expected() {
		return this.expected;
	}

	@Override
	public int exitCode() {
		return ExitCode.BAD_CONFIGURATION;
	}

}
