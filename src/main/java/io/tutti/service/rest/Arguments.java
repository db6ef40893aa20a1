package io.tutti.service.rest;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Checks of arguments, with a text that names the argument, its range and its value.
 */
final class Arguments {

	private Arguments() {
	}

	/**
	 * Reads a query parameter strictly: Spring's converters read {@code 0x10}, and take
	 * an empty value for an absent one.
	 * @throws ProblemException if it is not a whole number
	 */
	static long wholeNumber(String name, String text) {
		try {
			return Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			throw ProblemException.invalidArgument(name + " must be a whole number, got " + shortened(text));
		}
	}

	/** The start of a text that a message quotes. */
	static String shortened(String text) {
		int most = 40;
		return (text.length() > most) ? text.substring(0, most) + "…" : text;
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
	 * @throws ProblemException if it is missing, blank or too long, or if UTF-8 cannot
	 * encode it, so that other ranks would get another text
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
		if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
			throw ProblemException.invalidArgument(name + " must be text; it has half of a surrogate pair");
		}
		return text;
	}

}
