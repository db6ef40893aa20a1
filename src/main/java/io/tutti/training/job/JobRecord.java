package io.tutti.training.job;

import io.tutti.training.checkpoint.Progress;

/**
 * What a job carries from one generation of its group to the next, apart from tensors.
 *
 * @param progress completed steps and the loss of the current epoch
 * @param lossBefore mean loss over the training samples before the first step; NaN until
 * it has been measured
 * @param lastEpochLoss mean loss of the last complete epoch, infinite before the first
 * @param stopped whether the ranks have agreed to stop
 * @param job random id of an elastic job, 0 until its ranks have agreed on it
 * @param repeatedSteps number of steps that were begun again after a lost rank
 * @param generations number of generations of an elastic group that have trained
 */
record JobRecord(Progress progress, double lossBefore, double lastEpochLoss, boolean stopped, long job,
		long repeatedSteps, int generations) {

	static final JobRecord START = new JobRecord(Progress.NONE, Double.NaN, Double.POSITIVE_INFINITY, false, 0, 0, 0);

	JobRecord with(Progress next) {
		return new JobRecord(next, this.lossBefore, this.lastEpochLoss, this.stopped, this.job, this.repeatedSteps,
				this.generations);
	}

	JobRecord withLossBefore(double loss) {
		return new JobRecord(this.progress, loss, this.lastEpochLoss, this.stopped, this.job, this.repeatedSteps,
				this.generations);
	}

	JobRecord atNextEpoch(double epochLoss) {
		return new JobRecord(this.progress.atNextEpoch(), this.lossBefore, epochLoss, this.stopped, this.job,
				this.repeatedSteps, this.generations);
	}

	JobRecord asStopped() {
		return new JobRecord(this.progress, this.lossBefore, this.lastEpochLoss, true, this.job, this.repeatedSteps,
				this.generations);
	}

	/** The record at the start of a generation. */
	JobRecord atNextGeneration(long id, long repeated) {
		return new JobRecord(this.progress, this.lossBefore, this.lastEpochLoss, this.stopped, id, repeated,
				this.generations + 1);
	}

}
