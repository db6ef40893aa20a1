package io.tutti.service.command;

import io.tutti.ExitCode;
import io.tutti.benchmark.Measurement;
import org.jspecify.annotations.Nullable;

/**
 * Counts the wrong elements of a benchmark's own results, which are an internal error.
 */
final class WrongResults {

	private int lines;

	private int wrongLines;

	private long elements;

	/** Adds a line. */
	void take(Measurement line) {
		this.lines++;
		this.wrongLines += (line.wrong() > 0) ? 1 : 0;
		this.elements += line.wrong();
	}

	int exitCode() {
		return (this.elements == 0) ? ExitCode.DONE : ExitCode.INTERNAL;
	}

	/** The error for the user, {@code null} if every element was right. */
	@Nullable String note() {
		return (this.elements == 0) ? null : this.elements + " elements of results were wrong, in " + this.wrongLines
				+ " of " + this.lines + " lines";
	}

}
