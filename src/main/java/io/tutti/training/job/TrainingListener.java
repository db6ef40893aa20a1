package io.tutti.training.job;

import io.tutti.training.checkpoint.SavedCheckpoint;

/**
 * Receives the events of a training job. Called on the training thread of each rank, with
 * the same values on every rank. Must return quickly and not throw.
 */
public interface TrainingListener {

	/** Ignores all events. */
	TrainingListener NONE = new TrainingListener() {
	};

	/**
	 * Data, model and checkpoint are loaded; the first step follows.
	 * @param plan what is trained
	 */
	default void started(TrainingPlan plan) {
	}

	/**
	 * This rank begins a step with these samples; unlike the other values they differ
	 * between ranks.
	 * @param samples indices of this rank's samples
	 */
	default void selected(StepSamples samples) {
	}

	/**
	 * An elastic group has formed again, and the job continues.
	 * @param worldSize number of ranks from now on
	 * @param step number of completed steps
	 */
	default void reformed(int worldSize, long step) {
	}

	/**
	 * A generation of an elastic group begins with a step that another generation has
	 * begun and not completed.
	 * @param steps number of steps of the job that were begun again so far, also before
	 * this rank joined it
	 */
	default void repeated(long steps) {
	}

	/**
	 * A step is complete on every rank.
	 * @param step number of the step, from 1, counting the steps of earlier runs
	 * @param loss mean loss over the step's global batch, before the step
	 */
	default void step(long step, double loss) {
	}

	/**
	 * Times of the step on this rank; unlike the other values they differ between ranks.
	 * @param times durations in nanoseconds
	 */
	default void timed(StepTimes times) {
	}

	/**
	 * An epoch is complete, and the model was evaluated on the test samples unless the
	 * job stops.
	 * @param result loss and score
	 */
	default void epochDone(EpochResult result) {
	}

	/**
	 * A checkpoint is complete, possibly some steps after it was begun. Called on rank 0
	 * only.
	 * @param saved step, directory and times
	 */
	default void checkpointed(SavedCheckpoint saved) {
	}

	/**
	 * All ranks have agreed to stop after this step.
	 * @param step number of the last step
	 * @param reason why the job stops
	 */
	default void stopping(long step, String reason) {
	}

	/**
	 * The job is complete or stopped.
	 * @param summary the result
	 */
	default void finished(TrainingSummary summary) {
	}

}
