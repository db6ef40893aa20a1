package io.tutti.service.rest;

import java.util.Locale;

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
			throw ProblemException
				.invalidArgument(String.format(Locale.ROOT, "%s must be in %d..%d, got %d", name, min, max, value));
		}
		return value;
	}

	/**
	 * Returns a text that is not blank.
	 * @throws ProblemException if it is missing, blank or too long
	 */
	static String text(String name, @Nullable String text, int maxLength) {
		if (text == null || text.isBlank()) {
			throw ProblemException.invalidArgument(String.format(Locale.ROOT,
					"%s must have 1 to %d characters that are not all blank", name, maxLength));
		}
		if (text.length() > maxLength) {
			throw ProblemException.invalidArgument(String.format(Locale.ROOT, "%s must have 1 to %d characters, got %d",
					name, maxLength, text.length()));
		}
		return text;
	}

}
