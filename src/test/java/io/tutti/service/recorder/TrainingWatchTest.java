package io.tutti.service.recorder;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.training.checkpoint.SavedCheckpoint;
import io.tutti.training.job.StepTimes;
import io.tutti.training.job.TrainingPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

@Timeout(10)
class TrainingWatchTest {

	private static final TrainingPlan PLAN = new TrainingPlan(0, 2, "tcp", "digits", 1437, 360, 9610, 30, 1350, 100);

	private final AtomicLong clock = new AtomicLong();

	private final TrainingWatch watch = new TrainingWatch(this.clock::get);

	@Test
	void thereIsNoProgressBeforeTheStartAndNoSpeedBeforeTheFirstStep() {
		assertThat(this.watch.progress()).isNull();
		this.watch.started(PLAN);
		assertThat(this.watch.progress().step()).isEqualTo(100);
		assertThat(this.watch.progress().speed()).isNull();
	}

	@Test
	void theSpeedCountsEvaluationsAndTheSharesOnlySteps() {
		this.watch.started(PLAN);
		steps(101, 10, 50, 100);
		TrainingSpeed speed = this.watch.progress().speed();
		assertThat(speed.samplesPerSecond()).isEqualTo(320, within(1e-9));
		assertThat(speed.stepSeconds()).isEqualTo(0.05, within(1e-9));
		assertThat(speed.exposedShare()).isEqualTo(0.5, within(1e-9));
		assertThat(speed.dataShare()).isEqualTo(0.1, within(1e-9));
		assertThat(speed.remainingSeconds()).isEqualTo((1350 - 110) * 0.1, within(1e-9));
	}

	@Test
	void aStallLowersTheSpeed() {
		this.watch.started(PLAN);
		steps(101, 10, 50, 100);
		this.clock.addAndGet(TimeUnit.SECONDS.toNanos(9));
		assertThat(this.watch.progress().speed().samplesPerSecond()).isEqualTo(32, within(1e-9));
	}

	@Test
	void onlyRecentStepsCount() {
		this.watch.started(PLAN);
		steps(101, 10, 50, 1000);
		steps(111, 1000, 50, 100);
		assertThat(this.watch.progress().speed().samplesPerSecond()).isEqualTo(320, within(1.0));
		assertThat(this.watch.steps()).isEqualTo(1010);
		assertThat(this.watch.times().samples()).isEqualTo(32 * 1010);
	}

	@Test
	void theWaitForCheckpointsIsCounted() {
		this.watch.checkpointed(new SavedCheckpoint(Path.of("run/step-00000010"), 10, 1000, 0.25, 2));
		this.watch.checkpointed(new SavedCheckpoint(Path.of("run/step-00000020"), 20, 1000, 0.5, 2));
		assertThat(this.watch.checkpoints()).isEqualTo(2);
		assertThat(this.watch.checkpointSeconds()).isEqualTo(0.75);
	}

	/** Steps of 32 samples, half communication and a tenth data. */
	private void steps(long first, int count, long millis, long periodMillis) {
		for (long step = first; step < first + count; step++) {
			this.clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(periodMillis));
			this.watch.step(step, 0.5);
			long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
			this.watch.timed(new StepTimes(32, nanos, nanos / 10, nanos / 2));
		}
	}

}
