package io.tutti.training;

import java.util.Arrays;

import io.tutti.RankOutOfRangeException;
import io.tutti.training.internal.Share;
import io.tutti.training.internal.Shuffle;

/**
 * Assigns samples to steps and ranks. Each epoch visits every sample once, in its own
 * order, which is the same on every rank. The order is split into global batches, and
 * each batch into one contiguous share per rank. The shares of a batch differ by at most
 * one sample. If a batch has fewer samples than there are ranks, some shares are empty.
 *
 * @param samples number of training samples, at least 1
 * @param globalBatch samples per step, at least 1; the last step of an epoch takes the
 * remainder
 * @param worldSize number of ranks, at least 1
 * @param seed seed of the shuffled orders
 */
public record BatchSchedule(int samples, int globalBatch, int worldSize, long seed) {

	/** Checks the values. */
	public BatchSchedule {
		if (samples < 1 || globalBatch < 1 || worldSize < 1) {
			throw new IllegalArgumentException("samples, global batch and world size must be at least 1, got " + samples
					+ ", " + globalBatch + " and " + worldSize);
		}
	}

	/**
	 * {@return the number of steps in one epoch}
	 */
	public int stepsPerEpoch() {
		return Math.ceilDiv(this.samples, this.globalBatch);
	}

	/**
	 * Sample indices in the order of an epoch, counted from 0.
	 * @param epoch the epoch, from 0
	 * @return the indices
	 * @throws IllegalArgumentException if the epoch is negative
	 */
	public int[] order(int epoch) {
		if (epoch < 0) {
			throw new IllegalArgumentException("an epoch is at least 0, got " + epoch);
		}
		return Shuffle.order(this.samples, this.seed, epoch);
	}

	/**
	 * Number of samples in the global batch of a step.
	 * @param stepInEpoch the step, from 0 in each epoch
	 * @return the number
	 * @throws IllegalArgumentException if an epoch has no such step
	 */
	public int batchSize(int stepInEpoch) {
		if (stepInEpoch < 0 || stepInEpoch >= stepsPerEpoch()) {
			throw new IllegalArgumentException(
					"the step in the epoch must be in 0.." + (stepsPerEpoch() - 1) + ", got " + stepInEpoch);
		}
		return (int) Math.min(this.globalBatch, this.samples - (long) stepInEpoch * this.globalBatch);
	}

	/**
	 * Indices of the samples that a rank takes in a step of an epoch with this order.
	 * @param order the order of the epoch
	 * @param stepInEpoch the step, from 0 in each epoch
	 * @param rank the rank
	 * @return indices of the samples, possibly none
	 * @throws IllegalArgumentException if the order has another length, or there is no
	 * such step or rank
	 */
	public int[] samples(int[] order, int stepInEpoch, int rank) {
		requireOrder(order);
		Share share = share(stepInEpoch, rank);
		return Arrays.copyOfRange(order, share.from(), share.to());
	}

	/** {@code copyOfRange} would fill up a shorter one with zeros. */
	void requireOrder(int[] order) {
		if (order.length != this.samples) {
			throw new IllegalArgumentException(
					"the order of an epoch must have " + this.samples + " samples, got " + order.length);
		}
	}

	/** Positions in the epoch's order that a rank takes in a step. */
	Share share(int stepInEpoch, int rank) {
		RankOutOfRangeException.check("rank", rank, this.worldSize);
		return Share.of(batchSize(stepInEpoch), rank, this.worldSize).shiftedBy(stepInEpoch * this.globalBatch);
	}

}
