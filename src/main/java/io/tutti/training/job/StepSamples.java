package io.tutti.training.job;

/**
 * The training samples that a rank is about to use in a step. A step that is repeated
 * after the loss of a rank is repeated in a later generation; its last generation counts.
 *
 * @param step number of the step, from 1
 * @param generation generation of the group
 * @param rank this rank in that generation
 * @param samples indices of the samples, a copy for the receiver
 */
public record StepSamples(long step, long generation, int rank, int[] samples) {
}
