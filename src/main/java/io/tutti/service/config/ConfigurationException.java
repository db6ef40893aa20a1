package io.tutti.service.config;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * A rank cannot start with its configuration. Carries the problem and the action to take.
 * Exit code 64, unless a restart may help.
 */
public final class ConfigurationException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final int exitCode;

	private final String problem;

	private final String action;

	ConfigurationException(String problem, String action) {
		this(problem, action, null);
	}

	public ConfigurationException(String problem, String action, @Nullable Throwable cause) {
		this(ExitCode.BAD_CONFIGURATION, problem, action, cause);
	}

	public ConfigurationException(int exitCode, String problem, String action, @Nullable Throwable cause) {
		super(problem + ". " + action, cause);
		this.exitCode = exitCode;
		this.problem = problem;
		this.action = action;
	}

	/** The problem, naming the value. */
	public String problem() {
		return this.problem;
	}

	/** The action to take. */
	public String action() {
		return this.action;
	}

	@Override
	public int exitCode() {
		return this.exitCode;
	}

}
