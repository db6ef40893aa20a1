package io.tutti.benchmark.peer;

import java.util.List;

/**
 * Result of a process.
 *
 * @param exitCode exit code, 128 + signal number if a signal killed the process
 * @param timedOut whether it was killed at its time limit
 * @param seconds the time limit
 * @param output lines of its standard output
 * @param errors lines of its standard error
 */
record ProcessOutcome(int exitCode, boolean timedOut, long seconds, List<String> output, List<String> errors) {

	private static final int MAX_REASON = 200;

	ProcessOutcome {
		output = List.copyOf(output);
		errors = List.copyOf(errors);
	}

	boolean succeeded() {
		return this.exitCode == 0 && !this.timedOut;
	}

	/**
	 * The cause of the failure in one line: the first line of standard error with the
	 * word "error", else the last line.
	 */
	String reason() {
		if (this.timedOut) {
			return "timed out after " + this.seconds + " s";
		}
		String lastLine = this.errors.stream()
			.map(String::strip)
			.filter((line) -> line.toLowerCase(java.util.Locale.ROOT).contains("error"))
			.findFirst()
			.or(() -> this.errors.stream().map(String::strip).filter((line) -> !line.isEmpty()).reduce((a, b) -> b))
			.orElse("no error output");
		return "exit code " + this.exitCode + ", " + lastLine.substring(0, Math.min(MAX_REASON, lastLine.length()));
	}

}
