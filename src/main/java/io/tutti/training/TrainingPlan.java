package io.tutti.training;

/**
 * What a job is about to do.
 *
 * @param rank this rank
 * @param worldSize how many ranks train
 * @param backend name of the backend that carries the collectives
 * @param data what is trained on, in words
 * @param trainingSamples samples that are trained on
 * @param testSamples samples that are kept back for the test
 * @param parameters values that the model learns
 * @param epochs passes over the training samples
 * @param totalSteps steps of the whole job
 * @param firstStep steps that a checkpoint has already done, 0 for a fresh start
 */
public record TrainingPlan(int rank, int worldSize, String backend, String data, int trainingSamples, int testSamples,
		long parameters, int epochs, long totalSteps, long firstStep) {
}
