package io.tutti.training;

import java.nio.file.Path;

/**
 * Hears how a training job goes. Called on the training thread of each rank, with the
 * same values on every rank: must return quickly and not throw.
 */
public interface TrainingListener {

	/** Hears nothing. */
	TrainingListener NONE = new TrainingListener() {
	};

	/** Data, model and checkpoint are in place; the first step comes next. */
	default void started(TrainingPlan plan) {
	}

	/**
	 * A step is done on every rank.
	 * @param step how many steps the job has done, from 1, those of earlier runs included
	 * @param loss mean loss over the step's global batch, before the step
	 */
	default void step(long step, double loss) {
	}

	/** A pass over the training samples is done and the test samples were tried. */
	default void epochDone(EpochResult result) {
	}

	/** Rank 0 has kept a checkpoint; heard on rank 0 only. */
	default void checkpointed(Path file, long step) {
	}

	/** All ranks have agreed to stop after this step. */
	default void stopping(long step, String reason) {
	}

	/** The job is over, done or stopped. */
	default void finished(TrainingSummary summary) {
	}

}
