package io.tutti.service.command;

import java.io.PrintStream;

/**
 * Tells a failure on stderr, as one paragraph for people. The stack is for those who ask
 * for it.
 */
final class FailureMessage {

	private FailureMessage() {
	}

	/** Writes what went wrong and returns the exit code that goes with it. */
	static int tell(Throwable failure, boolean debug, PrintStream err) {
		Throwable known = ExitCodes.known(failure);
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
		return ExitCodes.of(failure);
	}

	private static Throwable root(Throwable failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

}
