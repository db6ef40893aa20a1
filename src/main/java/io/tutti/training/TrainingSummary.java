package io.tutti.training;

import java.util.List;

/**
 * What a training job did. Rates and times are this rank's own, and of this run: what an
 * earlier run did before its checkpoint is not in them.
 *
 * @param worldSize how many ranks trained
 * @param backend name of the backend that carried the collectives
 * @param epochs passes over the training samples that are complete, those of earlier runs
 * included
 * @param steps steps that are done, those of earlier runs included
 * @param testAccuracy share of the test samples that are told right, 0 to 1
 * @param samplesPerSecond training samples per second, over all ranks together
 * @param allReducedBytes bytes that this rank gave to all-reduces
 * @param trainingSeconds time spent in steps
 * @param communicationSeconds the part of it in which this rank's training thread did
 * nothing but communicate
 * @param parameterSha256 hash of the final parameters, one per rank: all equal
 * @param stopped whether the job was asked to stop before its last step
 */
public record TrainingSummary(int worldSize, String backend, int epochs, long steps, double testAccuracy,
		double samplesPerSecond, long allReducedBytes, double trainingSeconds, double communicationSeconds,
		List<String> parameterSha256, boolean stopped) {

	public TrainingSummary {
		parameterSha256 = List.copyOf(parameterSha256);
	}

	/** Share of the time in steps that went into communication, 0 to 1. */
	public double communicationShare() {
		return (this.trainingSeconds > 0) ? this.communicationSeconds / this.trainingSeconds : 0;
	}

}
