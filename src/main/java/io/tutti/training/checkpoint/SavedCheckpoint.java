package io.tutti.training.checkpoint;

import java.nio.file.Path;

/**
 * A complete checkpoint on the disk.
 *
 * @param directory directory of its files
 * @param step completed steps of the job
 * @param bytes size of its tensors
 * @param waitedSeconds time for which training waited: for the copy of the state and, if
 * the next checkpoint or the end of the job came first, until it was written
 * @param writtenSeconds time to write and flush it, while training continued
 */
public record SavedCheckpoint(Path directory, long step, long bytes, double waitedSeconds, double writtenSeconds) {

	SavedCheckpoint withWaitedSeconds(double seconds) {
		return new SavedCheckpoint(this.directory, this.step, this.bytes, seconds, this.writtenSeconds);
	}

}
