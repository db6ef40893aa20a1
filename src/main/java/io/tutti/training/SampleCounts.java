package io.tutti.training;

/**
 * Number of samples of a task.
 *
 * @param training number of training samples, at least 1
 * @param test number of test samples, at least 1
 */
public record SampleCounts(int training, int test) {

	/** Checks the values. */
	public SampleCounts {
		if (training < 1 || test < 1) {
			throw new IllegalArgumentException(
					"a task needs at least 1 training sample and 1 test sample, got " + training + " and " + test);
		}
	}

}
