package io.tutti.training.checkpoint;

/**
 * Progress of a job.
 *
 * @param step number of completed steps, less than 10^18
 * @param epochLoss sum of the losses in the current epoch
 * @param epochSamples number of samples processed in the current epoch
 */
public record Progress(long step, double epochLoss, long epochSamples) {

	/** The name of a checkpoint has at most 18 digits. */
	private static final long MAX_STEP = 999_999_999_999_999_999L;

	/** Progress of a job that has not started. */
	public static final Progress NONE = new Progress(0, 0, 0);

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if a number is negative or the step too large
	 */
	public Progress {
		if (step < 0 || step > MAX_STEP) {
			throw new IllegalArgumentException("steps must be in 0.." + MAX_STEP + ", got " + step);
		}
		if (epochSamples < 0) {
			throw new IllegalArgumentException("samples must be at least 0, got " + epochSamples);
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
