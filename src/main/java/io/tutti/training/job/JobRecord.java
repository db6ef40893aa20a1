package io.tutti.training.job;

import io.tutti.training.checkpoint.Progress;

/**
 * What a job carries from one generation of its group to the next, apart from tensors.
 *
 * @param progress completed steps and the loss of the current epoch, the same on all
 * ranks that have completed as many steps
 * @param epochEnded whether the current epoch is complete and the model has been
 * evaluated after it
 * @param lossBefore mean loss over the training samples before the first step; NaN until
 * it has been measured
 * @param previousEpochLoss mean loss of the epoch before the current one, infinite in the
 * first
 * @param stopped whether the ranks have agreed to stop
 * @param job random id of an elastic job, 0 until its ranks have agreed on it
 * @param repeatedSteps number of steps that were begun again after a lost rank
 * @param generations number of generations of an elastic group that have trained
 */
record JobRecord(Progress progress, boolean epochEnded, double lossBefore, double previousEpochLoss, boolean stopped,
		long job, long repeatedSteps, int generations) {

	static final JobRecord START = new JobRecord(Progress.NONE, false, Double.NaN, Double.POSITIVE_INFINITY, false, 0,
			0, 0);

	/** The record of a job that continues from a checkpoint. */
	JobRecord restored(Progress kept) {
		return new JobRecord(kept, false, this.lossBefore, this.previousEpochLoss, this.stopped, this.job,
				this.repeatedSteps, this.generations);
	}

	/** The record after one more step, with which an epoch begins if one has ended. */
	JobRecord afterStep(double lossSum, int samples) {
		return new JobRecord(resumable().plus(lossSum, samples), false, this.lossBefore, lastEpochLoss(), this.stopped,
				this.job, this.repeatedSteps, this.generations);
	}

	/** Progress with which another run of the job continues. */
	Progress resumable() {
		return this.epochEnded ? this.progress.atNextEpoch() : this.progress;
	}

	/** Mean loss of the last epoch that has ended, infinite before the first. */
	double lastEpochLoss() {
		return this.epochEnded ? this.progress.meanLoss() : this.previousEpochLoss;
	}

	JobRecord atEpochEnd() {
		return new JobRecord(this.progress, true, this.lossBefore, this.previousEpochLoss, this.stopped, this.job,
				this.repeatedSteps, this.generations);
	}

	JobRecord withLossBefore(double loss) {
		return new JobRecord(this.progress, this.epochEnded, loss, this.previousEpochLoss, this.stopped, this.job,
				this.repeatedSteps, this.generations);
	}

	JobRecord asStopped() {
		return new JobRecord(this.progress, this.epochEnded, this.lossBefore, this.previousEpochLoss, true, this.job,
				this.repeatedSteps, this.generations);
	}

}
