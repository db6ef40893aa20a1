package io.tutti.training.checkpoint;

import java.nio.file.Path;

/**
 * Where and when a job keeps checkpoints.
 *
 * @param directory directory in which rank 0 keeps the checkpoints that all ranks
 * continue from; used by one job at a time
 * @param every steps between checkpoints of a {@code TrainingJob}, 0 for one after each
 * epoch; a loop of your own decides when it saves
 * @param keep number of checkpoints to keep, at least 1; older ones are deleted once a
 * new one is complete
 */
public record CheckpointOptions(Path directory, int every, int keep) {

	/**
	 * Default number of checkpoints: one to continue from if the disk damages the newest.
	 */
	public static final int DEFAULT_KEEP = 2;

	/** Checks the values. */
	public CheckpointOptions {
		if (every < 0) {
			throw new IllegalArgumentException(
					"steps between checkpoints must be at least 1, or 0 for each epoch, got " + every);
		}
		if (keep < 1) {
			throw new IllegalArgumentException("number of checkpoints to keep must be at least 1, got " + keep);
		}
	}

	/**
	 * A checkpoint after each epoch.
	 * @param directory directory of the checkpoints of one job
	 * @return the options
	 */
	public static CheckpointOptions of(Path directory) {
		return new CheckpointOptions(directory, 0, DEFAULT_KEEP);
	}

}
