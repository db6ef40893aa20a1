package io.tutti.service.command;

import java.io.PrintStream;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.ExitCode;
import io.tutti.engine.spi.OneLine;
import org.jspecify.annotations.Nullable;

/**
 * Prints a failure on stderr as one line of text, followed by the stack trace with
 * {@code --debug}.
 */
final class FailureMessage {

	/** Causes may form a cycle. */
	private static final int MOST_CAUSES = 100;

	private FailureMessage() {
	}

	/** Prints the failure and returns its exit code. */
	static int tell(Throwable failure, boolean debug, PrintStream err) {
		Throwable known = known(failure);
		Throwable told = (known != null) ? known : causes(failure).reduce(failure, (_, inner) -> inner);
		StringBuilder text = new StringBuilder("tutti: ");
		if (known == null) {
			text.append("internal error: ").append(told.getClass().getSimpleName()).append(": ");
		}
		text.append(OneLine.of(String.valueOf(told.getMessage())));
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
		return causes(failure).filter(ExitCode.Source.class::isInstance).findFirst().orElse(null);
	}

	private static Stream<Throwable> causes(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MOST_CAUSES);
	}

}
