package io.tutti.training.job;

import io.tutti.training.checkpoint.Progress;

/**
 * What a job carries from one generation of its group to the next, apart from tensors.
 *
 * @param progress completed steps and the loss of the current epoch, the same on all
 * ranks that have completed as many steps
 * @param epochEnded whether the current epoch is complete and the model has been
 * evaluated after it
 * @param previousEpochLoss mean loss of the epoch before the current one, infinite in the
 * first
 * @param job what does not change with a step
 */
record JobRecord(Progress progress, boolean epochEnded, double previousEpochLoss, Job job) {

	static final JobRecord START = new JobRecord(Progress.NONE, false, Double.POSITIVE_INFINITY,
			new Job(0, Double.NaN, false, 0, 0));

	/**
	 * What a step does not change.
	 *
	 * @param id random id of an elastic job, 0 until its ranks have agreed on it
	 * @param lossBefore mean loss over the training samples before the first step; NaN
	 * until it has been measured
	 * @param stopped whether the ranks have agreed to stop
	 * @param repeatedSteps number of steps that were begun again after a lost rank
	 * @param generations number of generations of an elastic group that have trained
	 */
	record Job(long id, double lossBefore, boolean stopped, long repeatedSteps, int generations) {
	}

	/** The record of a job that continues from a checkpoint. */
	JobRecord restored(Progress kept) {
		return new JobRecord(kept, false, this.previousEpochLoss, this.job);
	}

	/** The record after one more step, with which an epoch begins if one has ended. */
	JobRecord afterStep(double lossSum, int samples) {
		return new JobRecord(resumable().plus(lossSum, samples), false, lastEpochLoss(), this.job);
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
		return new JobRecord(this.progress, true, this.previousEpochLoss, this.job);
	}

	JobRecord withLossBefore(double loss) {
		return with(new Job(this.job.id(), loss, this.job.stopped(), this.job.repeatedSteps(), this.job.generations()));
	}

	JobRecord asStopped() {
		return with(
				new Job(this.job.id(), this.job.lossBefore(), true, this.job.repeatedSteps(), this.job.generations()));
	}

	private JobRecord with(Job changed) {
		return new JobRecord(this.progress, this.epochEnded, this.previousEpochLoss, changed);
	}

}
