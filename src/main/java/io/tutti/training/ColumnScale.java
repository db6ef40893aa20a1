package io.tutti.training;

import java.util.Arrays;

/**
 * How the values of one column become comparable with those of the others: mean 0,
 * deviation 1 and at most {@value #LIMIT} from 0, as measured on the training rows. Mean
 * and deviation are those of the column with its outliers drawn in (winsorised): a few
 * large values move neither, and a value that is far from everything seen in training is
 * large, but never larger than the limit.
 *
 * @param mean mean of the column without its outliers
 * @param deviation standard deviation of it; 0 for a column that is constant
 */
record ColumnScale(double mean, double deviation) {

	/** In standard deviations: of a normal column one value in a million is beyond. */
	private static final double LIMIT = 5;

	/** What the middle half of a normal column spans, in standard deviations. */
	private static final double SPAN_OF_HALF = 1.349;

	/** What all but a twentieth at either end spans, in standard deviations. */
	private static final double SPAN_OF_NINE_TENTHS = 3.290;

	/**
	 * Measures a column.
	 * @param values the column's training values; sorted on return
	 */
	static ColumnScale of(float[] values) {
		Arrays.sort(values);
		double first = values[0];
		double last = values[values.length - 1];
		if (first == last) {
			return new ColumnScale(first, 0);
		}
		double spread = spread(values);
		if (spread > 0) {
			double median = quantile(values, 0.5);
			first = Math.max(first, median - LIMIT * spread);
			last = Math.min(last, median + LIMIT * spread);
		}
		double mean = mean(values, first, last);
		return new ColumnScale(mean, deviation(values, first, last, mean));
	}

	/** The value in this scale. */
	float apply(float value) {
		if (this.deviation == 0) {
			return 0;
		}
		return (float) Math.clamp((value - this.mean) / this.deviation, -LIMIT, LIMIT);
	}

	/** A standard deviation that a twentieth of outliers at either end does not move. */
	private static double spread(float[] sorted) {
		double half = quantile(sorted, 0.75) - quantile(sorted, 0.25);
		double nineTenths = quantile(sorted, 0.95) - quantile(sorted, 0.05);
		return Math.max(half / SPAN_OF_HALF, nineTenths / SPAN_OF_NINE_TENTHS);
	}

	private static double quantile(float[] sorted, double share) {
		return sorted[(int) Math.round(share * (sorted.length - 1))];
	}

	private static double mean(float[] values, double first, double last) {
		double sum = 0;
		for (float value : values) {
			sum += Math.clamp(value, first, last);
		}
		return sum / values.length;
	}

	private static double deviation(float[] values, double first, double last, double mean) {
		double sum = 0;
		for (float value : values) {
			double difference = Math.clamp(value, first, last) - mean;
			sum += difference * difference;
		}
		return Math.sqrt(sum / values.length);
	}

}
