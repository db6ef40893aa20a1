package io.tutti.service.page;

import io.tutti.training.EpochResult;
import io.tutti.training.TrainingListener;
import io.tutti.training.TrainingPlan;
import io.tutti.training.TrainingSummary;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the progress of this process's training job for the page.
 */
public final class TrainingWatch implements TrainingListener {

	private volatile @Nullable TrainingPlan plan;

	private volatile @Nullable EpochResult epoch;

	private volatile long step;

	private volatile double loss = Double.NaN;

	private volatile @Nullable String state;

	TrainingWatch() {
	}

	@Override
	public void started(TrainingPlan plan) {
		this.step = plan.firstStep();
		this.plan = plan;
	}

	@Override
	public void step(long step, double loss) {
		this.loss = loss;
		this.step = step;
	}

	@Override
	public void epochDone(EpochResult result) {
		this.epoch = result;
	}

	@Override
	public void stopping(long step, String reason) {
		this.state = "stopping: " + reason;
	}

	@Override
	public void finished(TrainingSummary summary) {
		this.state = summary.stopped() ? "stopped" : "done";
	}

	/** The progress, {@code null} if no training has started. */
	@Nullable TrainingView view() {
		TrainingPlan known = this.plan;
		if (known == null) {
			return null;
		}
		EpochResult passed = this.epoch;
		return new TrainingView(known.data(), this.step, known.totalSteps(), (passed != null) ? passed.epoch() : 0,
				known.epochs(), Double.isFinite(this.loss) ? this.loss : null,
				(passed != null) ? passed.testAccuracy() : null, this.state);
	}

}
