package io.tutti.training.job;

/**
 * Description of a job, given before its first step.
 *
 * @param rank this rank
 * @param worldSize number of ranks
 * @param backend name of the backend of the collectives
 * @param data name of the data set
 * @param trainingSamples number of training samples
 * @param testSamples number of test samples
 * @param parameters number of trained values in the model
 * @param epochs number of epochs
 * @param totalSteps number of steps of the whole job
 * @param firstStep number of steps completed before the checkpoint, 0 without one
 */
public record TrainingPlan(int rank, int worldSize, String backend, String data, int trainingSamples, int testSamples,
		long parameters, int epochs, long totalSteps, long firstStep) {
}
