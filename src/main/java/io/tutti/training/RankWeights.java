package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.RankOutOfRangeException;

/**
 * Divides each global batch among ranks of different speed. The same on every rank. If a
 * rank's loss is the sum over its samples divided by the global batch, and gradients are
 * combined by {@link GradientScaling#SUM}, the ranks train the same parameters as with
 * equal shares, up to rounding, unless the model has layers whose result depends on a
 * rank's share, such as dropout and batch normalization.
 *
 * @param weights a weight for each rank, such as its samples per second; not negative,
 * and not all zero
 */
public record RankWeights(List<Double> weights) {

	/** Copies the list and checks the weights. */
	public RankWeights {
		weights = List.copyOf(weights);
		double sum = 0;
		for (double weight : weights) {
			if (!(weight >= 0) || Double.isInfinite(weight)) {
				throw new IllegalArgumentException("a rank's weight must be finite and at least 0, got " + weights);
			}
			sum += weight;
		}
		if (!(sum > 0) || Double.isInfinite(sum)) {
			throw new IllegalArgumentException("the ranks' weights must have a finite sum above 0, got " + weights);
		}
	}

	/**
	 * Weights that the ranks have measured. A collective call.
	 * @param group the ranks that train together
	 * @param samplesPerSecond this rank's speed
	 * @return the weights, the same on every rank
	 * @throws IllegalArgumentException on every rank, if a rank's value is not a weight
	 */
	public static RankWeights measured(ProcessGroup group, double samplesPerSecond) {
		double[] all = new double[group.worldSize()];
		group.allGather(MemorySegment.ofArray(new double[] { samplesPerSecond }), MemorySegment.ofArray(all),
				DataType.FLOAT64);
		return new RankWeights(Arrays.stream(all).boxed().toList());
	}

	/**
	 * Number of samples of each rank in a batch, in proportion to the weights. The sizes
	 * add up to the batch and differ from the exact proportion by less than one.
	 * @param batch samples of all ranks
	 * @return the sizes by rank
	 */
	public int[] sizes(int batch) {
		int[] bounds = bounds(batch);
		int[] sizes = new int[this.weights.size()];
		Arrays.setAll(sizes, (rank) -> bounds[rank + 1] - bounds[rank]);
		return sizes;
	}

	/**
	 * Indices of the samples that a rank takes in a step.
	 * @param schedule the global batches; its equal shares are not used
	 * @param order the order of the epoch
	 * @param stepInEpoch the step, from 0 in each epoch
	 * @param rank the rank
	 * @return indices of the samples, possibly none
	 * @throws IllegalArgumentException if the schedule has another number of ranks, the
	 * order another length, or there is no such step or rank
	 */
	public int[] samples(BatchSchedule schedule, int[] order, int stepInEpoch, int rank) {
		if (schedule.worldSize() != this.weights.size()) {
			throw new IllegalArgumentException("the schedule has " + schedule.worldSize() + " ranks, but there are "
					+ this.weights.size() + " weights");
		}
		RankOutOfRangeException.check("rank", rank, this.weights.size());
		schedule.requireOrder(order);
		int[] bounds = bounds(schedule.batchSize(stepInEpoch));
		int offset = stepInEpoch * schedule.globalBatch();
		return Arrays.copyOfRange(order, offset + bounds[rank], offset + bounds[rank + 1]);
	}

	/** Position of each rank's first sample, and the end of the batch. */
	private int[] bounds(int batch) {
		if (batch < 0) {
			throw new IllegalArgumentException("a batch must have at least 0 samples, got " + batch);
		}
		double sum = this.weights.stream().mapToDouble(Double::doubleValue).sum();
		int[] bounds = new int[this.weights.size() + 1];
		double before = 0;
		for (int rank = 0; rank < this.weights.size(); rank++) {
			before += this.weights.get(rank);
			bounds[rank + 1] = (int) Math.min(batch, Math.round(batch * (before / sum)));
		}
		bounds[this.weights.size()] = batch;
		return bounds;
	}

}
