package io.tutti.training.table;

import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.training.TaskOption;
import org.jspecify.annotations.Nullable;

/**
 * Options of {@link ClassifierTask}.
 *
 * @param learningRate learning rate in the first epoch, finite and above 0; it decreases
 * from epoch to epoch
 * @param data table to train on, {@code null} for the bundled digits data set
 * @param label column of the class: its number from 1, or its name in the header;
 * {@code null} for the last column
 * @param separator separator of the cells, one character or {@code tab}; {@code null} for
 * a comma
 * @param header whether the first line holds the names of the columns; {@code null} if it
 * does where none of its cells is a number
 * @param testData table to test on, {@code null} to set aside a fifth of {@code data}
 */
public record ClassifierOptions(
		@TaskOption(value = "Step size of the optimizer in the first epoch; in epoch k it is divided by (k + 1) / 2",
				defaultValue = "0.05") double learningRate,
		@TaskOption(value = "Table to train on, .csv or .csv.gz: numbers and a class per line (default: the digits)",
				optional = true) @Nullable Path data,
		@TaskOption(value = "Column of the class, a number or a text: its number from 1, or its name in the header"
				+ " (default: the last column)", optional = true) @Nullable String label,
		@TaskOption(value = "Separates the cells of a line: one character, or tab (default: a comma)",
				optional = true) @Nullable String separator,
		@TaskOption(
				value = "The first line holds the names of the columns, or with --no-header a row"
						+ " (default: names if none of its cells is a number)",
				optional = true) @Nullable Boolean header,
		@TaskOption(value = "Table to test on, with the columns of --data (default: a fifth of the rows of --data)",
				optional = true) @Nullable Path testData) {

	/** Default learning rate. */
	public static final double DEFAULT_LEARNING_RATE = 0.05;

	/** Checks the values. */
	public ClassifierOptions {
		if (!(learningRate > 0) || Double.isInfinite(learningRate)) {
			throw new IllegalArgumentException("learning rate must be a finite number above 0, got " + learningRate);
		}
		if (data == null && Stream.of(testData, label, separator, header).anyMatch(Objects::nonNull)) {
			throw new IllegalArgumentException("--test-data, --label, --separator and --header describe a table,"
					+ " and none was given; add --data");
		}
		if (data != null) {
			source(data, label, separator, header, testData);
		}
	}

	/**
	 * A table with commas and the class in the last column, or the digits.
	 * @param learningRate learning rate in the first epoch, finite and above 0; it
	 * decreases from epoch to epoch
	 * @param data table to train on, {@code null} for the bundled digits data set
	 */
	public ClassifierOptions(double learningRate, @Nullable Path data) {
		this(learningRate, data, null, null, null, null);
	}

	/**
	 * {@return the bundled digits data set}
	 */
	public static ClassifierOptions defaults() {
		return new ClassifierOptions(DEFAULT_LEARNING_RATE, null);
	}

	/** The table to train on, {@code null} for the bundled digits data set. */
	@Nullable TableSource table() {
		return (this.data != null) ? source(this.data, this.label, this.separator, this.header, this.testData) : null;
	}

	private static TableSource source(Path data, @Nullable String label, @Nullable String separator,
			@Nullable Boolean header, @Nullable Path testData) {
		char between = (separator != null) ? TableSource.separator(separator) : TableSource.DEFAULT_SEPARATOR;
		return new TableSource(data, testData, between, label, header);
	}

}
