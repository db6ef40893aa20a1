package io.tutti.training;

import java.util.Arrays;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Validates a table row by row and collects its values. Error messages name the file, and
 * line and column counted from 1.
 */
final class TableBuilder {

	/** Largest class number; rejects a last column of measurements instead of classes. */
	static final int MAX_CLASS = 9_999;

	/** Minimum number of rows: with fewer, a fifth is less than one row. */
	static final int MIN_ROWS = 5;

	private static final int MAX_CELL_CHARS_SHOWN = 40;

	private final String name;

	private float[] features = new float[1 << 12];

	private int[] labels = new int[1 << 6];

	private int rows;

	private int cellsPerRow;

	private int firstLine;

	private int maxClass;

	TableBuilder(String name) {
		this.name = name;
	}

	/**
	 * Adds a line.
	 * @throws MalformedDataException if the line is malformed
	 */
	void add(int line, String[] cells) {
		if (this.firstLine == 0) {
			requireColumns(line, cells.length);
			this.firstLine = line;
			this.cellsPerRow = cells.length;
			if (isHeader(cells)) {
				return;
			}
		}
		if (cells.length != this.cellsPerRow) {
			throw malformed(line, Math.min(cells.length, this.cellsPerRow) + 1, "the line has " + cells.length
					+ " columns, but line " + this.firstLine + " has " + this.cellsPerRow);
		}
		addRow(line, cells);
	}

	/** The complete table. */
	Dataset build() {
		if (this.firstLine == 0) {
			throw new MalformedDataException(this.name + " line 1, column 1: the table is empty");
		}
		if (this.rows < MIN_ROWS) {
			throw new MalformedDataException(this.name + " holds " + this.rows + " rows, but at least " + MIN_ROWS
					+ " are needed to keep a fifth of them for the test");
		}
		if (this.maxClass == 0) {
			throw new MalformedDataException(this.name + ": every row is of class 0 (column " + this.cellsPerRow
					+ "); a classifier needs at least two classes");
		}
		int columns = this.cellsPerRow - 1;
		return new Dataset(columns, this.maxClass + 1, Arrays.copyOf(this.features, this.rows * columns),
				Arrays.copyOf(this.labels, this.rows));
	}

	private void requireColumns(int line, int columns) {
		if (columns < 2) {
			throw malformed(line, 1,
					"a row needs at least one number and, last, its class, separated by commas, but there is one column");
		}
	}

	/**
	 * A header has text in every column; a row with one malformed number is not a header.
	 */
	private static boolean isHeader(String[] cells) {
		return Arrays.stream(cells).allMatch((cell) -> !cell.isBlank() && parse(cell) == null);
	}

	private void addRow(int line, String[] cells) {
		int columns = cells.length - 1;
		requireSpace(line, columns);
		for (int column = 0; column < columns; column++) {
			this.features[this.rows * columns + column] = feature(line, column + 1, cells[column]);
		}
		int label = label(line, cells.length, cells[columns]);
		this.maxClass = Math.max(this.maxClass, label);
		this.labels[this.rows++] = label;
	}

	private void requireSpace(int line, int columns) {
		long needed = (this.rows + 1L) * columns;
		if (needed > Integer.MAX_VALUE / 2) {
			throw malformed(line, 1, "the table holds more than " + Integer.MAX_VALUE / 2 + " numbers");
		}
		if (needed > this.features.length) {
			this.features = Arrays.copyOf(this.features, (int) Math.max(needed, this.features.length * 2L));
		}
		if (this.rows == this.labels.length) {
			this.labels = Arrays.copyOf(this.labels, this.rows * 2);
		}
	}

	private float feature(int line, int column, String cell) {
		double value = number(line, column, cell);
		if (!Float.isFinite((float) value)) {
			throw malformed(line, column, shown(cell) + " exceeds the range of a 32-bit float");
		}
		return (float) value;
	}

	private int label(int line, int column, String cell) {
		double value = number(line, column, cell);
		if (value < 0 || value > MAX_CLASS || value != Math.rint(value)) {
			throw malformed(line, column,
					"the class (last column) must be a whole number in 0.." + MAX_CLASS + ", got " + shown(cell));
		}
		return (int) value;
	}

	private double number(int line, int column, String cell) {
		Double value = parse(cell);
		if (value == null) {
			throw malformed(line, column, cell.isBlank() ? "the cell is empty" : shown(cell) + " is not a number");
		}
		if (!Double.isFinite(value)) {
			throw malformed(line, column, shown(cell) + " is not a finite number");
		}
		return value;
	}

	/**
	 * The number, or {@code null}. Java's type suffixes and hexadecimal notation are
	 * rejected.
	 */
	private static @Nullable Double parse(String cell) {
		String text = cell.strip();
		if (text.isEmpty() || "dDfF".indexOf(text.charAt(text.length() - 1)) >= 0 || text.indexOf('x') >= 0
				|| text.indexOf('X') >= 0) {
			return specialValue(text);
		}
		try {
			return Double.valueOf(text);
		}
		catch (NumberFormatException ex) {
			return specialValue(text);
		}
	}

	private static @Nullable Double specialValue(String text) {
		return switch (text.toLowerCase(Locale.ROOT)) {
			case "nan", "+nan", "-nan" -> Double.NaN;
			case "inf", "+inf", "infinity", "+infinity" -> Double.POSITIVE_INFINITY;
			case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
			default -> null;
		};
	}

	private static String shown(String cell) {
		String text = cell.strip();
		return "'" + ((text.length() <= MAX_CELL_CHARS_SHOWN) ? text : text.substring(0, MAX_CELL_CHARS_SHOWN) + "…")
				+ "'";
	}

	private MalformedDataException malformed(int line, int column, String what) {
		return new MalformedDataException(this.name + " line " + line + ", column " + column + ": " + what);
	}

}
