package io.tutti.service.command;

import java.io.PrintStream;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Prints a failure on stderr as one line of text, followed by the stack trace with
 * {@code --debug}.
 */
final class FailureMessage {

	private FailureMessage() {
	}

	/** Prints the failure and returns its exit code. */
	static int tell(Throwable failure, boolean debug, PrintStream err) {
		Throwable known = known(failure);
		Throwable told = (known != null) ? known : root(failure);
		StringBuilder text = new StringBuilder("tutti: ");
		if (known == null) {
			text.append("internal error: ").append(told.getClass().getSimpleName()).append(": ");
		}
		text.append(String.valueOf(told.getMessage()).replaceAll("\\s*\\R\\s*", " "));
		if (known == null && !debug) {
			text.append(" (--debug shows where)");
		}
		err.println(text);
		if (debug) {
			failure.printStackTrace(err);
		}
		err.flush();
		return ExitCode.of(failure);
	}

	/**
	 * Prints the failure of a command without {@code --debug} and returns its exit code.
	 * Only an internal error has its stack trace.
	 */
	static int tell(Throwable failure, PrintStream err) {
		return tell(failure, known(failure) == null, err);
	}

	private static @Nullable Throwable known(Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof ExitCode.Source)) {
			cause = cause.getCause();
		}
		return cause;
	}

	private static Throwable root(Throwable failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

}
