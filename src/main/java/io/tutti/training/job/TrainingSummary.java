package io.tutti.training.job;

import java.util.List;

import io.tutti.training.TestMetric;

/**
 * Result of a training job. Rates and times are those of this rank and this run; runs
 * before the checkpoint are not included.
 *
 * @param worldSize number of ranks
 * @param backend name of the backend of the collectives
 * @param epochs number of completed epochs, including earlier runs
 * @param steps number of completed steps, including earlier runs
 * @param metric what was measured on the test samples
 * @param testScore its mean over the test samples, for an accuracy 0 to 1; NaN if the job
 * stopped
 * @param samplesPerSecond training samples per second, over all ranks together
 * @param allReducedBytes bytes that this rank passed to all-reduces of gradients, buffers
 * and test scores
 * @param trainingSeconds seconds spent in steps
 * @param communicationSeconds the part of it in which this rank's training thread only
 * communicated
 * @param parameterSha256 SHA-256 of the final parameters and buffers, one per rank, all
 * equal
 * @param stopped whether the job stopped on request before the last evaluation
 * @param checkpointSeconds seconds for which training waited for checkpoints; 0 on ranks
 * other than 0
 * @param reforms how often an elastic group has formed again, also before this rank
 * joined it
 * @param repeatedSteps number of steps of the job that were begun again after a lost
 * rank, also before this rank joined it
 * @param optimizerBytes bytes of the optimizer's state, as libtorch saves it, by rank, if
 * it is divided among the ranks; otherwise empty
 */
public record TrainingSummary(int worldSize, String backend, int epochs, long steps, TestMetric metric,
		double testScore, double samplesPerSecond, long allReducedBytes, double trainingSeconds,
		double communicationSeconds, List<String> parameterSha256, boolean stopped, double checkpointSeconds,
		int reforms, long repeatedSteps, List<Long> optimizerBytes) {

	/** Copies the lists. */
	public TrainingSummary {
		parameterSha256 = List.copyOf(parameterSha256);
		optimizerBytes = List.copyOf(optimizerBytes);
	}

	/**
	 * {@return share of the time in steps spent on communication, 0 to 1}
	 */
	public double communicationShare() {
		return (this.trainingSeconds > 0) ? this.communicationSeconds / this.trainingSeconds : 0;
	}

}
