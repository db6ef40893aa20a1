package io.tutti.training;

/**
 * How far a job has come.
 *
 * @param step steps that are done
 * @param epochLoss sum of the losses in the epoch that is under way
 * @param epochSamples samples of the epoch that is under way
 */
record Progress(long step, double epochLoss, long epochSamples) {

	/** A job that has not begun. */
	static final Progress NONE = new Progress(0, 0, 0);

	/** After one more step. */
	Progress plus(double lossSum, int samples) {
		return new Progress(this.step + 1, this.epochLoss + lossSum, this.epochSamples + samples);
	}

	/** Where the next epoch begins. */
	Progress atNextEpoch() {
		return new Progress(this.step, 0, 0);
	}

	/** Mean loss of the epoch that is under way. */
	double meanLoss() {
		return this.epochLoss / this.epochSamples;
	}

}
