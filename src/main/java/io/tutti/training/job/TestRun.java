package io.tutti.training.job;

import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;

import io.tutti.training.TestMetric;

/**
 * Evaluates the model on the test samples. Each rank evaluates a share; the sum over all
 * ranks gives the same score on every rank.
 */
final class TestRun {

	private final Replica replica;

	private final TestMetric metric;

	private final int count;

	private final BooleanSupplier stop;

	private long testedStep = -1;

	private OptionalDouble score = OptionalDouble.empty();

	private long allReducedBytes;

	/**
	 * Connects the test samples to a model.
	 * @param stop whether this rank is asked to stop
	 */
	TestRun(int count, TestMetric metric, Replica replica, BooleanSupplier stop) {
		this.replica = replica;
		this.metric = metric;
		this.count = count;
		this.stop = stop;
	}

	/** Number of test samples. */
	int samples() {
		return this.count;
	}

	TestMetric metric() {
		return this.metric;
	}

	/**
	 * Mean score of the test samples after a step, empty if a rank was asked to stop
	 * before it had evaluated its share. A collective call.
	 * @throws TrainingDivergedException if it is not a finite number
	 */
	OptionalDouble score(long step) {
		if (this.testedStep != step) {
			this.score = this.replica.meanScore(this.count, this.stop);
			this.allReducedBytes += 2 * Double.BYTES;
			this.testedStep = step;
			this.score.ifPresent((value) -> requireFinite(value, step));
		}
		return this.score;
	}

	private void requireFinite(double value, long step) {
		if (!Double.isFinite(value)) {
			throw new TrainingDivergedException("the test " + this.metric.name() + " is " + value + " after step "
					+ step + ". Look for values that are not finite in the test data");
		}
	}

	long allReducedBytes() {
		return this.allReducedBytes;
	}

}
