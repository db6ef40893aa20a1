package io.tutti.training;

/**
 * Position of a step in a job.
 *
 * @param step number of steps completed before this one
 * @param epoch number of epochs completed before this one
 * @param stepsPerEpoch number of steps of each epoch
 * @param epochs number of epochs of the job
 */
public record TrainingStep(long step, int epoch, int stepsPerEpoch, int epochs) {

	/**
	 * {@return the number of steps of the job}
	 */
	public long totalSteps() {
		return (long) this.epochs * this.stepsPerEpoch;
	}

}
