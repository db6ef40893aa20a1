package io.tutti.training.job;

/**
 * What this rank has done in this run, in all generations of its group.
 *
 * @param times times of all steps
 * @param allReducedBytes bytes passed to all-reduces
 * @param checkpointSeconds seconds for which training waited for checkpoints
 */
record RunTotals(StepTimes times, long allReducedBytes, double checkpointSeconds) {

	static final RunTotals NONE = new RunTotals(StepTimes.NONE, 0, 0);

	RunTotals plus(RunTotals other) {
		return new RunTotals(this.times.plus(other.times), this.allReducedBytes + other.allReducedBytes,
				this.checkpointSeconds + other.checkpointSeconds);
	}

}
