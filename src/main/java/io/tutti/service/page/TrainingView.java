package io.tutti.service.page;

import org.jspecify.annotations.Nullable;

/**
 * How far a training job has come.
 *
 * @param data what is trained on
 * @param step steps that are done
 * @param totalSteps steps of the whole job
 * @param epoch passes that are done
 * @param epochs passes of the whole job
 * @param loss mean loss of the last step
 * @param testAccuracy share of the test samples told right after the last pass
 * @param state what else is to be said
 */
record TrainingView(String data, long step, long totalSteps, int epoch, int epochs, @Nullable Double loss,
		@Nullable Double testAccuracy, @Nullable String state) {
}
