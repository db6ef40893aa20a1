package io.tutti.training;

/**
 * A table cut into what is trained on and what is kept for the test, four to one, by a
 * seed. Both are standardised by the training rows alone: each column to mean 0 and
 * standard deviation 1, columns that are constant there to 0.
 *
 * @param training rows to learn from
 * @param test rows to try what was learnt
 */
record DataSplit(Dataset training, Dataset test) {

	static DataSplit of(Dataset table, long seed) {
		int[] order = Shuffle.order(table.rows(), seed, Shuffle.SPLIT);
		int cut = (int) (table.rows() * 4L / 5);
		Dataset training = table.select(order, 0, cut);
		Dataset test = table.select(order, cut, table.rows());
		for (int column = 0; column < table.columns(); column++) {
			standardise(training, test, column);
		}
		return new DataSplit(training, test);
	}

	private static void standardise(Dataset training, Dataset test, int column) {
		double mean = mean(training, column);
		double deviation = isConstant(training, column) ? 0 : deviation(training, column, mean);
		scale(training, column, mean, deviation);
		scale(test, column, mean, deviation);
	}

	private static void scale(Dataset table, int column, double mean, double deviation) {
		float[] features = table.features();
		for (int index = column; index < features.length; index += table.columns()) {
			features[index] = (deviation > 0) ? (float) ((features[index] - mean) / deviation) : 0;
		}
	}

	/** Compares values: the rounded mean of a constant may differ from it. */
	private static boolean isConstant(Dataset table, int column) {
		float[] features = table.features();
		for (int index = column; index < features.length; index += table.columns()) {
			if (features[index] != features[column]) {
				return false;
			}
		}
		return true;
	}

	private static double mean(Dataset table, int column) {
		double sum = 0;
		for (int index = column; index < table.features().length; index += table.columns()) {
			sum += table.features()[index];
		}
		return sum / table.rows();
	}

	private static double deviation(Dataset table, int column, double mean) {
		double sum = 0;
		for (int index = column; index < table.features().length; index += table.columns()) {
			double difference = table.features()[index] - mean;
			sum += difference * difference;
		}
		return Math.sqrt(sum / table.rows());
	}

}
