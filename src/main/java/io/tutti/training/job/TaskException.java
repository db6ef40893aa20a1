package io.tutti.training.job;

import io.tutti.ExitCode;
import io.tutti.training.TrainingTask;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a {@link TrainingTask} throws an exception or breaks its contract. The
 * message names the task and the method.
 */
public final class TaskException extends RuntimeException implements ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final int exitCode;

	private TaskException(String message, int exitCode, @Nullable Throwable cause) {
		super(message, cause);
		this.exitCode = exitCode;
	}

	/** A method has failed; a restart may help. */
	static TaskException failed(String task, String method, Throwable cause) {
		return new TaskException("the task " + task + " failed in " + method + ": " + cause.getClass().getSimpleName()
				+ ": " + firstLine(cause) + " (--debug shows where)", ExitCode.INTERNAL, cause);
	}

	/** A method has returned what it must not return. */
	static TaskException rejected(String task, String method, String problem) {
		return new TaskException("the task " + task + " is wrong in " + method + ": " + problem,
				ExitCode.BAD_CONFIGURATION, null);
	}

	/** libtorch appends the native stack to its messages. */
	private static String firstLine(Throwable cause) {
		return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
	}

	@Override
	public int exitCode() {
		return this.exitCode;
	}

}
