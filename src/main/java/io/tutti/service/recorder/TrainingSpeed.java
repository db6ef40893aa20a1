package io.tutti.service.recorder;

/**
 * Recent speed of a training job on this rank.
 *
 * @param samplesPerSecond samples of all ranks per second of elapsed time
 * @param stepSeconds mean duration of a step
 * @param exposedShare share of the step time in which the training thread only
 * communicated, 0 to 1
 * @param dataShare share of the step time in which it waited for data, 0 to 1
 * @param remainingSeconds estimated time to the last step
 */
public record TrainingSpeed(double samplesPerSecond, double stepSeconds, double exposedShare, double dataShare,
		double remainingSeconds) {
}
