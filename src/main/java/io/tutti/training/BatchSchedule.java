package io.tutti.training;

/**
 * Which rank takes which samples in which step. Each epoch goes through all samples once,
 * in an order of its own that is the same on every rank; the order is cut into global
 * batches, and each batch into one contiguous share per rank. Shares differ by one sample
 * at most, and are empty where a batch has fewer samples than there are ranks.
 *
 * @param samples training samples
 * @param globalBatch samples per step; the last step of an epoch takes what is left
 * @param worldSize how many ranks share
 * @param seed what the orders follow from
 */
record BatchSchedule(int samples, int globalBatch, int worldSize, long seed) {

	/** Steps in which all samples are gone through. */
	int stepsPerEpoch() {
		return Math.ceilDiv(this.samples, this.globalBatch);
	}

	/** The samples in the order of an epoch, which counts from 0. */
	int[] order(int epoch) {
		return Shuffle.order(this.samples, this.seed, epoch);
	}

	/** Samples that all ranks together take in a step of an epoch. */
	int batchSize(int stepInEpoch) {
		return (int) Math.min(this.globalBatch, this.samples - (long) stepInEpoch * this.globalBatch);
	}

	/** What a rank takes in a step of an epoch. */
	Share share(int stepInEpoch, int rank) {
		return Share.of(batchSize(stepInEpoch), rank, this.worldSize).shiftedBy(stepInEpoch * this.globalBatch);
	}

}
