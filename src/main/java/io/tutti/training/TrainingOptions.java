package io.tutti.training;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * What a training job is asked to do; the same on every rank.
 *
 * @param epochs passes over the training samples, at least 1
 * @param globalBatch samples per step over all ranks together, at least 1
 * @param learningRate step size of the optimizer in the first epoch, more than zero; it
 * becomes smaller from epoch to epoch
 * @param seed what the split, the initial parameters and the order of samples follow from
 * @param threads threads that libtorch may use inside one operation, at least 1
 * @param data table to train on, {@code null} for the digits that come along
 * @param checkpointDirectory where rank 0 keeps the checkpoint and every rank continues
 * from, {@code null} for none
 * @param checkpointEvery steps between checkpoints, 0 for one after each epoch
 * @param report where rank 0 writes the summary as JSON, {@code null} for nowhere
 */
public record TrainingOptions(int epochs, int globalBatch, double learningRate, long seed, int threads,
		@Nullable Path data, @Nullable Path checkpointDirectory, int checkpointEvery, @Nullable Path report) {

	/** Passes over the training samples unless told otherwise. */
	public static final int DEFAULT_EPOCHS = 30;

	/** Samples per step unless told otherwise. */
	public static final int DEFAULT_GLOBAL_BATCH = 32;

	/** Step size unless told otherwise. */
	public static final double DEFAULT_LEARNING_RATE = 0.05;

	/** Seed unless told otherwise. */
	public static final long DEFAULT_SEED = 42;

	/** One thread: torchrun sets OMP_NUM_THREADS and other launchers do not. */
	public static final int DEFAULT_THREADS = 1;

	public TrainingOptions {
		requireAtLeastOne("epochs", epochs);
		requireAtLeastOne("global batch", globalBatch);
		requireAtLeastOne("threads", threads);
		if (!(learningRate > 0) || Double.isInfinite(learningRate)) {
			throw new IllegalArgumentException("learning rate must be a finite number above 0, got " + learningRate);
		}
		if (checkpointEvery < 0) {
			throw new IllegalArgumentException(
					"steps between checkpoints must be at least 1, or 0 for each epoch, got " + checkpointEvery);
		}
		if (checkpointEvery > 0 && checkpointDirectory == null) {
			throw new IllegalArgumentException("a checkpoint every " + checkpointEvery
					+ " steps needs a checkpoint directory, and none was given");
		}
	}

	/** The digits, with no checkpoint and no report. */
	public static TrainingOptions defaults() {
		return new TrainingOptions(DEFAULT_EPOCHS, DEFAULT_GLOBAL_BATCH, DEFAULT_LEARNING_RATE, DEFAULT_SEED,
				DEFAULT_THREADS, null, null, 0, null);
	}

	private static void requireAtLeastOne(String name, int value) {
		if (value < 1) {
			throw new IllegalArgumentException(name + " must be at least 1, got " + value);
		}
	}

}
