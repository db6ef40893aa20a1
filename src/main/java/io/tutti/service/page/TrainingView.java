package io.tutti.service.page;

import org.jspecify.annotations.Nullable;

/**
 * Progress of a training job.
 *
 * @param data the training data
 * @param step completed steps
 * @param totalSteps steps of the whole job
 * @param epoch completed epochs
 * @param epochs epochs of the whole job
 * @param loss mean loss of the last step
 * @param testAccuracy share of the test samples classified correctly after the last epoch
 * @param state {@code stopping} with the reason, {@code stopped} or {@code done}; absent
 * before that
 */
record TrainingView(String data, long step, long totalSteps, int epoch, int epochs, @Nullable Double loss,
		@Nullable Double testAccuracy, @Nullable String state) {
}
