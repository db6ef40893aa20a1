package io.tutti.training;

/**
 * A table cut into what is trained on and what is kept for the test, four to one, by a
 * seed. Both are scaled by the training rows alone: each column by its
 * {@link ColumnScale}, and where there are many columns all of them by one factor, so
 * that a row is about as long as one of {@value #ROW_SQUARES} columns.
 *
 * @param training rows to learn from
 * @param test rows to try what was learnt
 */
record DataSplit(Dataset training, Dataset test) {

	/**
	 * Mean sum of a row's squares that wider tables are scaled down to: a gradient grows
	 * with it, and the default step size is right for rows of about this many columns.
	 */
	private static final double ROW_SQUARES = 64;

	static DataSplit of(Dataset table, long seed) {
		int[] order = Shuffle.order(table.rows(), seed, Shuffle.SPLIT);
		int cut = (int) (table.rows() * 4L / 5);
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
		float[] features = table.features();
		for (int index = column; index < features.length; index += table.columns()) {
			features[index] = scale.apply(features[index]);
		}
	}

	private static double squares(Dataset table) {
		double sum = 0;
		for (float feature : table.features()) {
			sum += (double) feature * feature;
		}
		return sum;
	}

	private static void multiply(Dataset table, float factor) {
		float[] features = table.features();
		for (int index = 0; index < features.length; index++) {
			features[index] *= factor;
		}
	}

}
