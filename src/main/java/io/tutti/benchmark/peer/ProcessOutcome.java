package io.tutti.benchmark.peer;

import java.util.List;

/**
 * How a process ended.
 *
 * @param exitCode its exit code, 128 + signal where one ended it
 * @param timedOut whether it was ended for taking too long
 * @param seconds its limit
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

	/** Why it failed, in one line: the first that speaks of an error, else the last. */
	String reason() {
		if (this.timedOut) {
			return "not done after " + this.seconds + " s";
		}
		String said = this.errors.stream()
			.map(String::strip)
			.filter((line) -> line.toLowerCase(java.util.Locale.ROOT).contains("error"))
			.findFirst()
			.or(() -> this.errors.stream().map(String::strip).filter((line) -> !line.isEmpty()).reduce((a, b) -> b))
			.orElse("no word why");
		return "exit code " + this.exitCode + ", " + said.substring(0, Math.min(MAX_REASON, said.length()));
	}

}
