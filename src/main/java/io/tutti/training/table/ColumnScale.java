package io.tutti.training.table;

import java.util.Arrays;

/**
 * Standardises one column by the training rows: mean 0, standard deviation 1, values
 * clamped to ±{@value #LIMIT}. Mean and deviation are those of the winsorised column, so
 * that a few outliers change neither. A value far outside the training range is clamped
 * to the limit.
 *
 * @param mean mean of the winsorised column
 * @param deviation standard deviation of the winsorised column; 0 for a constant column
 */
record ColumnScale(double mean, double deviation) {

	/** In standard deviations: a normal column has one value in a million beyond it. */
	private static final double LIMIT = 5;

	/** Interquartile range of a normal column, in standard deviations. */
	private static final double SPAN_OF_HALF = 1.349;

	/**
	 * Range from the 5th to the 95th percentile of a normal column, in standard
	 * deviations.
	 */
	private static final double SPAN_OF_NINE_TENTHS = 3.290;

	/**
	 * Measures a column.
	 * @param values the column's training values; sorted on return
	 */
	static ColumnScale of(double[] values) {
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

	/** Standardises a value to a 32-bit float; 0 for a constant column. */
	float apply(double value) {
		if (this.deviation == 0) {
			return 0;
		}
		return (float) Math.clamp((value - this.mean) / this.deviation, -LIMIT, LIMIT);
	}

	/**
	 * An estimate of the standard deviation that is robust to 5 % of outliers at either
	 * end.
	 */
	private static double spread(double[] sorted) {
		double half = quantile(sorted, 0.75) - quantile(sorted, 0.25);
		double nineTenths = quantile(sorted, 0.95) - quantile(sorted, 0.05);
		return Math.max(half / SPAN_OF_HALF, nineTenths / SPAN_OF_NINE_TENTHS);
	}

	private static double quantile(double[] sorted, double share) {
		return sorted[(int) Math.round(share * (sorted.length - 1))];
	}

	private static double mean(double[] values, double first, double last) {
		double sum = 0;
		for (double value : values) {
			sum += Math.clamp(value, first, last);
		}
		return sum / values.length;
	}

	/** In units of a power of two, which changes no bit of it: no square underflows. */
	private static double deviation(double[] values, double first, double last, double mean) {
		double units = Math.scalb(1.0, -Math.getExponent(last - first));
		double sum = 0;
		for (double value : values) {
			double difference = (Math.clamp(value, first, last) - mean) * units;
			sum += difference * difference;
		}
		return Math.sqrt(sum / values.length) / units;
	}

}
