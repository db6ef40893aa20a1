package io.tutti.launch;

import java.util.regex.Pattern;

/**
 * Parses non-negative integers from variables strictly: digits only, within a range.
 */
final class WholeNumber {

	static final int MAX_PORT = 65_535;

	/** A larger world size counts as a typing error. */
	static final int MAX_WORLD_SIZE = 65_536;

	private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

	private WholeNumber() {
	}

	/** Whether the text is an integer of one to nine digits. */
	static boolean matches(String text) {
		return DIGITS.matcher(text).matches();
	}

	/**
	 * Reads the value of a variable.
	 * @param reason the reason for the range, empty if it needs none
	 * @throws ResolutionException naming the variable, its value and the range
	 */
	static int parse(String variable, String text, int least, int most, String reason) {
		if (matches(text)) {
			int value = Integer.parseInt(text);
			if (value >= least && value <= most) {
				return value;
			}
		}
		throw new ResolutionException(variable, text,
				"a whole number in " + least + ".." + most + (reason.isEmpty() ? "" : " (" + reason + ")"));
	}

}
