package io.tutti.training.table;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * A table of labelled rows in CSV files (RFC 4180, UTF-8, plain or packed with gzip), and
 * how to read it.
 *
 * @param file rows to train on
 * @param testFile rows to test on, with the same columns, {@code null} to set aside a
 * fifth of the rows of {@code file}
 * @param separator character between the cells of a line
 * @param label column that holds the class: its number from 1, or its name in the header;
 * {@code null} for the last column
 * @param header whether the first line holds the names of the columns, {@code null} to
 * find out: if none of its cells is a number
 */
public record TableSource(Path file, @Nullable Path testFile, char separator, @Nullable String label,
		@Nullable Boolean header) {

	/** Default separator. */
	public static final char DEFAULT_SEPARATOR = ',';

	/** How a tabulator is named in options. */
	private static final String TABULATOR = "tab";

	/** Checks the values. */
	public TableSource {
		if (separator == '"' || separator == '\n' || separator == '\r' || Character.isLetterOrDigit(separator)
				|| "+-.".indexOf(separator) >= 0) {
			throw new IllegalArgumentException("separator must be a character that is not part of a number, a name or"
					+ " a quote, such as ';', got '" + separator + "'");
		}
		if (label != null && label.isBlank()) {
			throw new IllegalArgumentException("label must be the number or the name of a column, got ''");
		}
		if (label != null && labelNumber(label) == 0) {
			throw new IllegalArgumentException("label must be the name of a column or its number from 1, got " + label);
		}
		if (label != null && labelNumber(label) < 0 && Boolean.FALSE.equals(header)) {
			throw new IllegalArgumentException(
					"label '" + label + "' is a name, but a table without a header has no names; give its number");
		}
	}

	/**
	 * A file with commas, the class in the last column.
	 * @param file the table
	 * @return the source
	 */
	public static TableSource of(Path file) {
		return new TableSource(file, null, DEFAULT_SEPARATOR, null, null);
	}

	/**
	 * Parses a separator.
	 * @param text one character, or {@code tab}
	 * @return the character
	 * @throws IllegalArgumentException if it is neither
	 */
	public static char separator(String text) {
		if (text.equals(TABULATOR)) {
			return '\t';
		}
		if (text.length() != 1) {
			throw new IllegalArgumentException(
					"separator must be one character or '" + TABULATOR + "', got '" + text + "'");
		}
		return text.charAt(0);
	}

	/** Whether the label is given by its name in the header. */
	boolean isLabelNamed() {
		return this.label != null && labelNumber(this.label) < 0;
	}

	/** Number of the label's column from 1, or -1 if the label is not a number. */
	int labelNumber() {
		return (this.label != null) ? labelNumber(this.label) : -1;
	}

	private static int labelNumber(String label) {
		if (!label.chars().allMatch((character) -> character >= '0' && character <= '9')) {
			return -1;
		}
		try {
			return Integer.parseInt(label);
		}
		catch (NumberFormatException ex) {
			return Integer.MAX_VALUE;
		}
	}

	/** The files, for messages. */
	@Override
	public String toString() {
		return (this.testFile != null) ? this.file + ", tested on " + this.testFile : this.file.toString();
	}

}
