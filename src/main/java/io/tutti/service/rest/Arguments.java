package io.tutti.service.rest;

import org.jspecify.annotations.Nullable;

/**
 * Checks of arguments, with a text that names the argument, its range and its value.
 */
final class Arguments {

	private Arguments() {
	}

	/**
	 * Returns a number in {@code min..max}.
	 * @throws ProblemException if it is out of range
	 */
	static long inRange(String name, long value, long min, long max) {
		if (value < min || value > max) {
			throw ProblemException.invalidArgument("%s must be in %d..%d, got %d".formatted(name, min, max, value));
		}
		return value;
	}

	/**
	 * Returns a text that is not blank.
	 * @throws ProblemException if it is missing, blank or too long
	 */
	static String text(String name, @Nullable String text, int maxLength) {
		if (text == null || text.isBlank()) {
			throw ProblemException
				.invalidArgument("%s must have 1 to %d characters that are not all blank".formatted(name, maxLength));
		}
		if (text.length() > maxLength) {
			throw ProblemException
				.invalidArgument("%s must have 1 to %d characters, got %d".formatted(name, maxLength, text.length()));
		}
		return text;
	}

}
