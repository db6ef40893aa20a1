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
 */
record JobRecord(Progress progress, double lossBefore, double lastEpochLoss, boolean stopped) {

	static final JobRecord START = new JobRecord(Progress.NONE, Double.NaN, Double.POSITIVE_INFINITY, false);

	JobRecord with(Progress next) {
		return new JobRecord(next, this.lossBefore, this.lastEpochLoss, this.stopped);
	}

	JobRecord withLossBefore(double loss) {
		return new JobRecord(this.progress, loss, this.lastEpochLoss, this.stopped);
	}

	JobRecord atNextEpoch(double epochLoss) {
		return new JobRecord(this.progress.atNextEpoch(), this.lossBefore, epochLoss, this.stopped);
	}

	JobRecord asStopped() {
		return new JobRecord(this.progress, this.lossBefore, this.lastEpochLoss, true);
	}

}
