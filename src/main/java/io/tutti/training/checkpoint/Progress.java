package io.tutti.training.checkpoint;

/**
 * Progress of a job.
 *
 * @param step number of completed steps
 * @param epochLoss sum of the losses in the current epoch
 * @param epochSamples number of samples processed in the current epoch
 */
public record Progress(long step, double epochLoss, long epochSamples) {

	/** Progress of a job that has not started. */
	public static final Progress NONE = new Progress(0, 0, 0);

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if a number is negative
	 */
	public Progress {
		if (step < 0 || epochSamples < 0) {
			throw new IllegalArgumentException(
					"steps and samples must be at least 0, got " + step + " and " + epochSamples);
		}
	}

	/**
	 * Progress after one more step.
	 * @param lossSum sum of the losses of the step's samples
	 * @param samples number of the step's samples
	 * @return the progress
	 */
	public Progress plus(double lossSum, int samples) {
		return new Progress(this.step + 1, this.epochLoss + lossSum, this.epochSamples + samples);
	}

	/**
	 * {@return progress at the start of the next epoch}
	 */
	public Progress atNextEpoch() {
		return new Progress(this.step, 0, 0);
	}

	/**
	 * {@return mean loss of the current epoch}
	 */
	public double meanLoss() {
		return this.epochLoss / this.epochSamples;
	}

}
