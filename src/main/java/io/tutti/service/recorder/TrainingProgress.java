package io.tutti.service.recorder;

import io.tutti.training.job.EpochResult;
import io.tutti.training.job.TrainingPlan;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a training job.
 *
 * @param plan the job
 * @param step completed steps, including those of earlier runs
 * @param epoch result of the last completed epoch
 * @param loss mean loss of the last step
 * @param state {@code stopping} with the reason, {@code stopped} or {@code done}; absent
 * before that
 * @param speed recent speed, absent before the first step
 */
public record TrainingProgress(TrainingPlan plan, long step, @Nullable EpochResult epoch, @Nullable Double loss,
		@Nullable String state, @Nullable TrainingSpeed speed) {
}
