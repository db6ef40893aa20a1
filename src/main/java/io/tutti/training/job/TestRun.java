package io.tutti.training.job;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.training.TestMetric;
import io.tutti.training.internal.Share;

/**
 * Evaluates the model on the test samples. Each rank evaluates a share; the sum over all
 * ranks gives the same score on every rank.
 */
final class TestRun {

	private final Replica replica;

	private final ProcessGroup group;

	private final TestMetric metric;

	private final int count;

	private final Share share;

	private long testedStep = -1;

	private double score;

	private long allReducedBytes;

	TestRun(ProcessGroup group, int count, TestMetric metric, Replica replica) {
		this.replica = replica;
		this.group = group;
		this.metric = metric;
		this.count = count;
		this.share = Share.of(count, group.rank(), group.worldSize());
	}

	/** Number of test samples. */
	int samples() {
		return this.count;
	}

	TestMetric metric() {
		return this.metric;
	}

	/**
	 * Mean score of the test samples after a step. A collective call.
	 * @throws TrainingDivergedException if it is not a finite number
	 */
	double score(long step) {
		if (this.testedStep != step) {
			double[] sum = { this.replica.scoreSum(this.share) };
			this.group.allReduce(sum, ReduceOp.SUM);
			this.allReducedBytes += Double.BYTES;
			this.score = sum[0] / this.count;
			this.testedStep = step;
			if (!Double.isFinite(this.score)) {
				throw new TrainingDivergedException("the test " + this.metric.name() + " is " + this.score
						+ " after step " + step + ". Look for values that are not finite in the test data");
			}
		}
		return this.score;
	}

	long allReducedBytes() {
		return this.allReducedBytes;
	}

}
