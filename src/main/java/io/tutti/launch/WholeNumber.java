package io.tutti.launch;

import java.util.regex.Pattern;

/**
 * Reads whole numbers from variables strictly: digits and nothing else, within a range.
 */
final class WholeNumber {

	static final int MAX_PORT = 65_535;

	/** A roster of more ranks than this is a slip of the keyboard. */
	static final int MAX_WORLD_SIZE = 65_536;

	private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

	private WholeNumber() {
	}

	/** Whether the text is a whole number of at most nine digits. */
	static boolean matches(String text) {
		return DIGITS.matcher(text).matches();
	}

	/**
	 * Reads the value of a variable.
	 * @param reason why the range is what it is, empty if that needs no words
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
