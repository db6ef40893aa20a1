package io.tutti.training;

import java.util.Arrays;

import io.tutti.training.internal.Share;
import io.tutti.training.internal.Shuffle;

/**
 * Assigns samples to steps and ranks. Each epoch visits every sample once, in its own
 * order, which is the same on every rank. The order is split into global batches, and
 * each batch into one contiguous share per rank. The shares of a batch differ by at most
 * one sample. If a batch has fewer samples than there are ranks, some shares are empty.
 *
 * @param samples number of training samples
 * @param globalBatch samples per step; the last step of an epoch takes the remainder
 * @param worldSize number of ranks
 * @param seed seed of the shuffled orders
 */
public record BatchSchedule(int samples, int globalBatch, int worldSize, long seed) {

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
	 */
	public int[] order(int epoch) {
		return Shuffle.order(this.samples, this.seed, epoch);
	}

	/**
	 * Number of samples in the global batch of a step.
	 * @param stepInEpoch the step, from 0 in each epoch
	 * @return the number
	 */
	public int batchSize(int stepInEpoch) {
		return (int) Math.min(this.globalBatch, this.samples - (long) stepInEpoch * this.globalBatch);
	}

	/**
	 * Indices of the samples that a rank takes in a step of an epoch with this order.
	 * @param order the order of the epoch
	 * @param stepInEpoch the step, from 0 in each epoch
	 * @param rank the rank
	 * @return indices of the samples, possibly none
	 */
	public int[] samples(int[] order, int stepInEpoch, int rank) {
		Share share = share(stepInEpoch, rank);
		return Arrays.copyOfRange(order, share.from(), share.to());
	}

	/** Positions in the epoch's order that a rank takes in a step. */
	Share share(int stepInEpoch, int rank) {
		return Share.of(batchSize(stepInEpoch), rank, this.worldSize).shiftedBy(stepInEpoch * this.globalBatch);
	}

}
