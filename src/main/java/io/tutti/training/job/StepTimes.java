package io.tutti.training.job;

/**
 * Times of one step on one rank. The data and communication times are parts of the step's
 * time; the rest is computation.
 *
 * @param samples size of the step's global batch
 * @param nanos duration of the step
 * @param dataNanos time in which the training thread waited for its share of the batch
 * @param exposedNanos time in which the training thread only communicated, since there
 * was no computation left to overlap with
 */
public record StepTimes(long samples, long nanos, long dataNanos, long exposedNanos) {

	/** No step. */
	public static final StepTimes NONE = new StepTimes(0, 0, 0, 0);

	/**
	 * The sum of both.
	 * @param other times to add
	 * @return the sum
	 */
	public StepTimes plus(StepTimes other) {
		return new StepTimes(this.samples + other.samples, this.nanos + other.nanos, this.dataNanos + other.dataNanos,
				this.exposedNanos + other.exposedNanos);
	}

	/**
	 * The difference to an earlier sum.
	 * @param earlier times to subtract
	 * @return the difference
	 */
	public StepTimes minus(StepTimes earlier) {
		return new StepTimes(this.samples - earlier.samples, this.nanos - earlier.nanos,
				this.dataNanos - earlier.dataNanos, this.exposedNanos - earlier.exposedNanos);
	}

}
