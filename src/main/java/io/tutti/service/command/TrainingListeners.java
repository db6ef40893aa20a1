package io.tutti.service.command;

import java.util.List;

import io.tutti.training.checkpoint.SavedCheckpoint;
import io.tutti.training.job.EpochResult;
import io.tutti.training.job.StepSamples;
import io.tutti.training.job.StepTimes;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingPlan;
import io.tutti.training.job.TrainingSummary;

/**
 * Forwards the events of a training job to several listeners.
 */
record TrainingListeners(List<TrainingListener> listeners) implements TrainingListener {

	@Override
	public void started(TrainingPlan plan) {
		this.listeners.forEach((listener) -> listener.started(plan));
	}

	@Override
	public void selected(StepSamples samples) {
		this.listeners.forEach((listener) -> listener.selected(samples));
	}

	@Override
	public void reformed(int worldSize, long step) {
		this.listeners.forEach((listener) -> listener.reformed(worldSize, step));
	}

	@Override
	public void repeated(long steps) {
		this.listeners.forEach((listener) -> listener.repeated(steps));
	}

	@Override
	public void step(long step, double loss) {
		for (TrainingListener listener : this.listeners) {
			listener.step(step, loss);
		}
	}

	@Override
	public void timed(StepTimes times) {
		this.listeners.forEach((listener) -> listener.timed(times));
	}

	@Override
	public void epochDone(EpochResult result) {
		this.listeners.forEach((listener) -> listener.epochDone(result));
	}

	@Override
	public void checkpointed(SavedCheckpoint saved) {
		this.listeners.forEach((listener) -> listener.checkpointed(saved));
	}

	@Override
	public void stopping(long step, String reason) {
		this.listeners.forEach((listener) -> listener.stopping(step, reason));
	}

	@Override
	public void finished(TrainingSummary summary) {
		this.listeners.forEach((listener) -> listener.finished(summary));
	}

}
