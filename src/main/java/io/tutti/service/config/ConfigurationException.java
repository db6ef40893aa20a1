package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

/**
 * A rank cannot start as it is configured; says what is wrong and what to do. Exit code
 * 64.
 */
public final class ConfigurationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String action;

	ConfigurationException(String problem, String action) {
		this(problem, action, null);
	}

	public ConfigurationException(String problem, String action, @Nullable Throwable cause) {
		super(problem + ". " + action, cause);
		this.problem = problem;
		this.action = action;
	}

	/** What is wrong, naming the value. */
	public String problem() {
		return this.problem;
	}

	/** What to do about it. */
	public String action() {
		return this.action;
	}

}
