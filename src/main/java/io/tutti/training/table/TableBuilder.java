package io.tutti.training.table;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * Validates a table row by row and collects its values. Error messages name the file, and
 * line and column counted from 1. The class of a row is a whole number or a text, in all
 * rows the same; texts are numbered in their sorted order.
 */
final class TableBuilder {

	/** Largest class number; rejects a column of measurements instead of classes. */
	static final int MAX_CLASS = 9_999;

	/** Minimum number of rows: with fewer, a fifth is less than one row. */
	static final int MIN_ROWS = 5;

	private static final int MAX_CELL_CHARS_SHOWN = 40;

	private static final int MAX_NAMES_SHOWN = 10;

	/** A shorter sequence of numbers can be a row by chance. */
	private static final int MIN_NUMBERED_COLUMNS = 4;

	private final TableSource source;

	private final Map<String, Integer> classNumbers = new HashMap<>();

	private String name;

	private double[] features = new double[1 << 12];

	private int[] labels = new int[1 << 6];

	private int rows;

	/** Rows of the training file; the others are test rows. */
	private int trainingRows = -1;

	private int cellsPerRow;

	private int labelIndex;

	/** First line of the current file; 0 before it. */
	private long firstLine;

	/**
	 * First line of the current file if it holds no number and the source leaves open
	 * whether it is a header; otherwise 0.
	 */
	private long lineOfTexts;

	/** First row of the table; the kind of its class is that of every row. */
	private @Nullable String firstRow;

	private boolean textClasses;

	private List<String> columnNames = List.of();

	/** Classes of the training rows that are numbers. */
	private final BitSet numberedClasses = new BitSet();

	TableBuilder(TableSource source) {
		this.source = source;
		this.name = source.file().toString();
	}

	/**
	 * Adds a row.
	 * @param line its first line
	 * @throws MalformedDataException if the row is malformed
	 */
	void add(long line, List<String> cells) {
		if (this.firstLine == 0) {
			boolean isHeader = isHeader(line, cells);
			if (this.cellsPerRow == 0) {
				begin(line, cells, isHeader);
			}
			this.firstLine = line;
			this.lineOfTexts = (this.source.header() == null && cells.stream().noneMatch(TableBuilder::isNumber)) ? line
					: 0;
			if (isHeader) {
				requireSameNames(line, cells);
				return;
			}
		}
		if (cells.size() != this.cellsPerRow) {
			throw malformed(line, Math.min(cells.size(), this.cellsPerRow) + 1,
					"the line has " + cells.size() + ((cells.size() == 1) ? " column" : " columns") + ", but "
							+ (isTest() ? "the training table" : "line " + this.firstLine) + " has "
							+ this.cellsPerRow);
		}
		addRow(line, cells);
	}

	/** Ends the training rows; the rows that follow are test rows from another file. */
	void beginTest(String testName) {
		requireRows(this.rows, 1);
		this.name = testName;
		this.trainingRows = this.rows;
		this.firstLine = 0;
	}

	/** The complete table. */
	Dataset build() {
		if (isTest()) {
			requireRows(this.rows - this.trainingRows, 1);
		}
		else {
			requireRows(this.rows, MIN_ROWS);
		}
		requireTwoClasses();
		requireNoHeaderAsRow();
		int classes = this.textClasses ? this.classNumbers.size() : this.numberedClasses.length();
		int columns = this.cellsPerRow - 1;
		List<String> names = this.classNumbers.keySet().stream().sorted().toList();
		return new Dataset(columns, classes, Arrays.copyOf(this.features, this.rows * columns), sortedLabels(names),
				names, isTest() ? this.rows - this.trainingRows : 0);
	}

	private boolean isTest() {
		return this.trainingRows >= 0;
	}

	private void requireRows(int count, int needed) {
		if (this.firstLine == 0) {
			throw new MalformedDataException(this.name + " line 1, column 1: the table is empty");
		}
		if (count < needed) {
			throw new MalformedDataException(this.name + " holds " + count + ((count == 1) ? " row" : " rows")
					+ ", but at least " + needed
					+ ((needed == MIN_ROWS) ? " are needed to keep a fifth of them for the test" : " is needed"));
		}
	}

	/**
	 * A header in which some columns are named by numbers looks like a row, with a class
	 * of its own. The header of the test rows looks like another row of it.
	 */
	private void requireNoHeaderAsRow() {
		boolean undeclared = this.source.header() == null && this.columnNames.isEmpty();
		IntStream others = IntStream.range(1, this.rows).filter((row) -> row != this.trainingRows);
		if (undeclared && this.textClasses && others.noneMatch((row) -> this.labels[row] == this.labels[0])) {
			throw new MalformedDataException(this.source.file() + " " + this.firstRow + ", column "
					+ (this.labelIndex + 1) + ": the first line is a row whose class no other row has, or names of"
					+ " columns; give --header or --no-header");
		}
	}

	private void requireTwoClasses() {
		int classes = this.textClasses ? this.classNumbers.size() : this.numberedClasses.cardinality();
		if (classes == 1) {
			throw new MalformedDataException(this.source.file() + ": every row is of class "
					+ (this.textClasses ? shown(this.classNumbers.keySet().iterator().next())
							: this.numberedClasses.nextSetBit(0))
					+ " (column " + (this.labelIndex + 1) + "); a classifier needs at least two classes");
		}
	}

	/** Numbers the classes in the order of their names instead of their occurrence. */
	private int[] sortedLabels(List<String> names) {
		int[] sorted = Arrays.copyOf(this.labels, this.rows);
		if (this.textClasses) {
			int[] places = new int[names.size()];
			for (int place = 0; place < places.length; place++) {
				places[this.classNumbers.get(names.get(place))] = place;
			}
			Arrays.setAll(sorted, (row) -> places[sorted[row]]);
		}
		return sorted;
	}

	private void begin(long line, List<String> cells, boolean isHeader) {
		if (cells.size() < 2) {
			throw malformed(line, 1, "a row needs at least one number and its class, separated by "
					+ shownSeparator(this.source.separator()) + ", but there is one column" + otherSeparator(cells));
		}
		this.columnNames = isHeader ? cells.stream().map(String::strip).toList() : List.of();
		this.cellsPerRow = cells.size();
		this.labelIndex = labelIndex(line);
	}

	/** Suggests a separator that the only cell of a row contains. */
	private static String otherSeparator(List<String> cells) {
		return List.of(',', ';', '\t', '|')
			.stream()
			.filter((separator) -> cells.getFirst().indexOf(separator) >= 0)
			.findFirst()
			.map((separator) -> "; give --separator if the cells are separated by " + shownSeparator(separator))
			.orElse("");
	}

	private static String shownSeparator(char separator) {
		return switch (separator) {
			case ',' -> "commas";
			case '\t' -> "tabulators";
			default -> "'" + separator + "'";
		};
	}

	private int labelIndex(long line) {
		if (!this.source.isLabelNamed()) {
			int number = (this.source.label() != null) ? this.source.labelNumber() : this.cellsPerRow;
			if (number > this.cellsPerRow) {
				throw malformed(line, this.cellsPerRow, "the label is column " + this.source.label()
						+ ", but the line has " + this.cellsPerRow + " columns");
			}
			return number - 1;
		}
		int[] found = IntStream.range(0, this.columnNames.size())
			.filter((column) -> this.columnNames.get(column).equals(this.source.label()))
			.toArray();
		if (found.length != 1) {
			List<String> names = this.columnNames.subList(0, Math.min(MAX_NAMES_SHOWN, this.columnNames.size()));
			throw new MalformedDataException(
					this.name + " line " + line + ": " + ((found.length == 0) ? "no column" : found.length + " columns")
							+ " named " + shown(this.source.label()) + "; give the label's number, or one of the names "
							+ String.join(", ", names) + ((names.size() < this.columnNames.size()) ? ", …" : ""));
		}
		return found[0];
	}

	/**
	 * A header has text in every column; a row with a malformed or missing number is not
	 * a header.
	 */
	private boolean isHeader(long line, List<String> cells) {
		if (this.source.header() != null) {
			return this.source.header();
		}
		if (this.source.isLabelNamed()) {
			return true;
		}
		if (isNumbered(cells, 0) || isNumbered(cells, 1)) {
			throw malformed(line, 1, "the numbers " + cells.getFirst().strip() + " to " + cells.getLast().strip()
					+ " are names of columns or a row; give --header or --no-header");
		}
		return cells.stream().noneMatch((cell) -> isMissing(cell) || isNumber(cell));
	}

	private static boolean isNumber(String cell) {
		return parse(cell) != null;
	}

	private static boolean isNumbered(List<String> cells, int first) {
		return cells.size() >= MIN_NUMBERED_COLUMNS && IntStream.range(0, cells.size())
			.allMatch((column) -> cells.get(column).strip().equals(Integer.toString(first + column)));
	}

	/** The columns of the test file must be those of the training file. */
	private void requireSameNames(long line, List<String> cells) {
		if (!isTest() || this.columnNames.isEmpty()) {
			return;
		}
		for (int column = 0; column < Math.min(cells.size(), this.cellsPerRow); column++) {
			if (!cells.get(column).strip().equals(this.columnNames.get(column))) {
				throw malformed(line, column + 1, "the column is named " + shown(cells.get(column))
						+ ", but in the training table " + shown(this.columnNames.get(column)));
			}
		}
	}

	private void addRow(long line, List<String> cells) {
		requireSpace(line);
		int next = this.rows * (this.cellsPerRow - 1);
		for (int column = 0; column < this.cellsPerRow; column++) {
			if (column != this.labelIndex) {
				this.features[next++] = feature(line, column + 1, cells.get(column));
			}
		}
		this.labels[this.rows] = label(line, cells.get(this.labelIndex));
		this.rows++;
	}

	private void requireSpace(long line) {
		long needed = (this.rows + 1L) * (this.cellsPerRow - 1);
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

	private double feature(long line, int column, String cell) {
		double value = number(line, column, cell);
		if (!Float.isFinite((float) value)) {
			throw malformed(line, column, shown(cell) + " exceeds the range of a 32-bit float");
		}
		return value;
	}

	private int label(long line, String cell) {
		int column = this.labelIndex + 1;
		requirePresent(line, column, cell);
		boolean isText = parse(cell) == null;
		if (this.firstRow == null) {
			this.firstRow = "line " + line;
			this.textClasses = isText;
		}
		if (isText == this.textClasses) {
			return isText ? textClass(line, cell.strip()) : numberedClass(line, cell);
		}
		String first = ", but the class in " + this.firstRow + (isTest() ? " of the training table is " : " is ");
		throw malformed(line, column,
				shown(cell) + (isText ? " is not a number" + first + "one" : " is a number" + first + "a text"));
	}

	private int numberedClass(long line, String cell) {
		int column = this.labelIndex + 1;
		double value = number(line, column, cell);
		if (value < 0 || value > MAX_CLASS || value != Math.rint(value)) {
			throw malformed(line, column, "the class " + ((this.source.label() == null) ? "(last column) " : "")
					+ "must be a whole number in 0.." + MAX_CLASS + ", got " + shown(cell));
		}
		int number = (int) value;
		if (!isTest()) {
			this.numberedClasses.set(number);
		}
		else if (!this.numberedClasses.get(number)) {
			throw unknownClass(line, cell);
		}
		return number;
	}

	private int textClass(long line, String text) {
		if (text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0) {
			throw malformed(line, this.labelIndex + 1, "the class spans several lines; is a closing quote missing?");
		}
		Integer known = this.classNumbers.get(text);
		if (known != null) {
			return known;
		}
		if (isTest()) {
			throw unknownClass(line, text);
		}
		if (this.classNumbers.size() > MAX_CLASS) {
			throw malformed(line, this.labelIndex + 1,
					"more than " + (MAX_CLASS + 1) + " classes; is this the column of the class?");
		}
		int number = this.classNumbers.size();
		this.classNumbers.put(text, number);
		return number;
	}

	private MalformedDataException unknownClass(long line, String cell) {
		return malformed(line, this.labelIndex + 1,
				"the class " + shown(cell) + " does not occur in " + this.source.file());
	}

	private double number(long line, int column, String cell) {
		requirePresent(line, column, cell);
		Double value = parse(cell);
		if (value == null) {
			throw malformed(line, column, shown(cell) + " is not a number"
					+ ((line == this.lineOfTexts) ? "; give --header if the line names the columns" : ""));
		}
		if (!Double.isFinite(value)) {
			throw malformed(line, column, shown(cell) + " is not a finite number");
		}
		return value;
	}

	private void requirePresent(long line, int column, String cell) {
		if (isMissing(cell)) {
			throw malformed(line, column,
					(cell.isBlank() ? "the cell is empty" : shown(cell) + " is a missing value")
							+ "; fill in the value or remove the row"
							+ ((line == this.lineOfTexts) ? ", or give --header if the line names the columns" : ""));
		}
	}

	/** Whether a cell is empty or holds a usual mark of a missing value. */
	private static boolean isMissing(String cell) {
		return switch (cell.strip().toLowerCase(Locale.ROOT)) {
			case "", "?", "na", "n/a", "#n/a", "null", "none" -> true;
			default -> false;
		};
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

	private MalformedDataException malformed(long line, int column, String what) {
		String named = (this.columnNames.size() >= column) ? " (column " + shown(this.columnNames.get(column - 1)) + ")"
				: "";
		return new MalformedDataException(this.name + " line " + line + ", column " + column + ": " + what + named);
	}

}
