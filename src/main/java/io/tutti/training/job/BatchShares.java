package io.tutti.training.job;

import io.tutti.ProcessGroup;
import io.tutti.training.BatchSchedule;
import io.tutti.training.RankWeights;
import org.jspecify.annotations.Nullable;

/**
 * Divides the batches of a job among its ranks. If the shares are to be measured, the
 * first steps have equal shares and the ranks then agree on weights.
 */
final class BatchShares {

	/** Steps that are slower than later ones, since code and memory are new. */
	static final int WARM_UP = 5;

	/** Steps over which speeds are averaged. */
	static final int MEASURED = 20;

	/** Speed of a rank without samples. A measured one is far above. */
	private static final double UNKNOWN = Double.MIN_VALUE;

	private final ProcessGroup group;

	private final BatchSchedule schedule;

	private @Nullable RankWeights weights;

	/** Steps until the weights are known; negative if they are not measured. */
	private int remaining;

	private long samples;

	private long nanos;

	/**
	 * Creates the shares.
	 * @throws IllegalArgumentException if the number of weights is not the world size
	 */
	BatchShares(ProcessGroup group, BatchSchedule schedule, RankShares shares) {
		shares.requireWorldSize(group.worldSize());
		this.group = group;
		this.schedule = schedule;
		this.weights = shares.weights();
		this.remaining = shares.measured() ? WARM_UP + MEASURED : -1;
	}

	/** Indices of the samples that this rank takes in a step. */
	int[] samples(int[] order, int stepInEpoch) {
		return (this.weights != null) ? this.weights.samples(this.schedule, order, stepInEpoch, this.group.rank())
				: this.schedule.samples(order, stepInEpoch, this.group.rank());
	}

	/**
	 * Records a step. A collective call after the last measured step.
	 * @param computed number of samples of this rank
	 * @param computingNanos time of the step in which this rank did not wait
	 */
	void record(int computed, long computingNanos) {
		if (this.remaining < 0) {
			return;
		}
		this.remaining--;
		if (this.remaining < MEASURED) {
			this.samples += computed;
			this.nanos += Math.max(1, computingNanos);
		}
		if (this.remaining == 0) {
			this.remaining = -1;
			agree();
		}
	}

	/** Keeps equal shares if a rank had no samples to measure. */
	private void agree() {
		RankWeights speeds = RankWeights.measured(this.group, Math.max(UNKNOWN, this.samples / (this.nanos / 1e9)));
		if (speeds.weights().stream().noneMatch((speed) -> speed == UNKNOWN)) {
			this.weights = speeds;
		}
	}

}
