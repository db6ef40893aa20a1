package io.tutti.service.page;

import io.tutti.service.recorder.TrainingProgress;
import io.tutti.service.recorder.TrainingSpeed;
import io.tutti.training.job.EpochResult;
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
 * @param test result of the last evaluation, such as {@code test accuracy 98.33 %}
 * @param state {@code stopping} with the reason, {@code stopped} or {@code done}; absent
 * before that
 * @param speed recent speed, absent before the first step
 */
record TrainingView(String data, long step, long totalSteps, int epoch, int epochs, @Nullable Double loss,
		@Nullable String test, @Nullable String state, @Nullable TrainingSpeed speed) {

	static TrainingView of(TrainingProgress progress) {
		EpochResult passed = progress.epoch();
		return new TrainingView(progress.plan().data(), progress.step(), progress.plan().totalSteps(),
				(passed != null) ? passed.epoch() : 0, progress.plan().epochs(), progress.loss(),
				(passed != null) ? test(passed) : null, progress.state(), progress.speed());
	}

	private static @Nullable String test(EpochResult passed) {
		return Double.isNaN(passed.testScore()) ? null
				: "test " + passed.metric().name() + " " + passed.metric().format(passed.testScore());
	}

}
