package io.tutti.training.table;

import java.util.stream.IntStream;

import io.tutti.training.internal.Shuffle;

/**
 * A table split into training and test rows: as given, or four to one by a seed. Both
 * parts are scaled by statistics of the training rows only. Each column is scaled by its
 * {@link ColumnScale} before its values become 32-bit floats. A wide table is also
 * multiplied by one factor, so that a row has about the norm of a row of
 * {@value #ROW_SQUARES} columns.
 *
 * @param training training rows
 * @param test test rows
 */
record DataSplit(Dataset training, Dataset test) {

	/**
	 * Mean squared norm that rows of wide tables are scaled down to. Gradients grow with
	 * it, and the default learning rate suits rows of about this many columns.
	 */
	private static final double ROW_SQUARES = 64;

	static DataSplit of(Dataset table, long seed) {
		boolean isSplit = table.testRows() > 0;
		int[] order = isSplit ? IntStream.range(0, table.rows()).toArray()
				: Shuffle.order(table.rows(), seed, Shuffle.SPLIT);
		int cut = isSplit ? table.rows() - table.testRows() : (int) (table.rows() * 4L / 5);
		Dataset training = table.select(order, 0, cut);
		Dataset test = table.select(order, cut, table.rows());
		for (int column = 0; column < table.columns(); column++) {
			ColumnScale scale = ColumnScale.of(training.column(column));
			scale(training, column, scale);
			scale(test, column, scale);
		}
		double squares = squares(training) / training.rows();
		if (squares > ROW_SQUARES) {
			float factor = (float) Math.sqrt(ROW_SQUARES / squares);
			multiply(training, factor);
			multiply(test, factor);
		}
		return new DataSplit(training, test);
	}

	private static void scale(Dataset table, int column, ColumnScale scale) {
		double[] features = table.features();
		for (int index = column; index < features.length; index += table.columns()) {
			features[index] = scale.apply(features[index]);
		}
	}

	private static double squares(Dataset table) {
		double sum = 0;
		for (double feature : table.features()) {
			sum += feature * feature;
		}
		return sum;
	}

	private static void multiply(Dataset table, float factor) {
		double[] features = table.features();
		for (int index = 0; index < features.length; index++) {
			features[index] = (float) (features[index] * factor);
		}
	}

}
