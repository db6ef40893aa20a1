package io.tutti.engine.spi;

import java.util.regex.Pattern;

/** Text of another process or a file as one line, for a terminal or a log. */
public final class OneLine {

	/**
	 * Line breaks, and characters that move a terminal's cursor or change its colours.
	 */
	private static final Pattern CONTROLS = Pattern
		.compile("(?<! ) *+[\\p{Cc}\\p{Zl}\\p{Zp}][\\p{Cc}\\p{Zl}\\p{Zp} ]*+");

	private OneLine() {
	}

	/** The text with a space in place of control characters and the spaces around. */
	public static String of(String text) {
		return CONTROLS.matcher(text).replaceAll(" ");
	}

}
