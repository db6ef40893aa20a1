package io.tutti.training;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.ProcessGroup;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the checkpoint of a job, which is stored on rank 0's disk only.
 */
final class CheckpointStore {

	/** Name of the checkpoint file in the directory. */
	static final String FILE_NAME = "checkpoint.tutti";

	private final ProcessGroup group;

	private final Path directory;

	private final Path file;

	CheckpointStore(ProcessGroup group, Path directory) {
		this.group = group;
		this.directory = directory;
		this.file = directory.resolve(FILE_NAME);
	}

	Path file() {
		return this.file;
	}

	/**
	 * Writes a checkpoint atomically. The previous one stays until the new one is
	 * complete. Called on rank 0 only.
	 * @throws CheckpointException if it cannot be written
	 */
	void keep(Checkpoint checkpoint) {
		try {
			AtomicFile.write(this.file, CheckpointCodec.encode(checkpoint));
		}
		catch (IOException ex) {
			throw CheckpointException.notKept("cannot keep checkpoint " + this.file + " of step "
					+ checkpoint.progress().step() + ": " + ex + "; the one before is untouched", ex);
		}
	}

	/**
	 * Returns rank 0's checkpoint on every rank, {@code null} if there is none. A
	 * collective call.
	 * @throws CheckpointException on every rank, if this job cannot continue from the
	 * checkpoint
	 */
	@Nullable Checkpoint restore(JobFingerprint job) {
		CheckpointFinding finding = (this.group.rank() == 0) ? read(job) : CheckpointFinding.NOTHING;
		finding = finding.broadcast(this.group);
		return switch (finding.kind()) {
			case ABSENT -> null;
			case REFUSED -> throw CheckpointException.refused(finding.text());
			case PRESENT -> CheckpointCodec.decode(finding.content());
		};
	}

	private CheckpointFinding read(JobFingerprint job) {
		try {
			Files.createDirectories(this.directory);
		}
		catch (IOException ex) {
			return CheckpointFinding.refused("the checkpoint folder " + this.directory + " cannot be created: " + ex);
		}
		try {
			if (!Files.exists(this.file)) {
				return CheckpointFinding.NOTHING;
			}
			if (Files.size(this.file) > CheckpointFinding.MAX_BYTES) {
				return CheckpointFinding
					.refused("checkpoint " + this.file + " is larger than " + CheckpointFinding.MAX_BYTES + " bytes");
			}
			return compareJob(Files.readAllBytes(this.file), job);
		}
		catch (IOException ex) {
			return CheckpointFinding.refused("cannot read checkpoint " + this.file + ": " + ex);
		}
	}

	private CheckpointFinding compareJob(byte[] content, JobFingerprint job) {
		String advice = "; give another directory, or move the file away to start afresh";
		try {
			JobFingerprint kept = CheckpointCodec.decode(content).job();
			return job.firstDifference(kept)
				.map((value) -> CheckpointFinding.refused("checkpoint " + this.file + " is of another job: it has "
						+ kept.describe(value.name()) + ", this job has " + value + advice))
				.orElseGet(() -> CheckpointFinding.present(content));
		}
		catch (IllegalArgumentException ex) {
			return CheckpointFinding
				.refused("cannot continue from checkpoint " + this.file + ": " + ex.getMessage() + advice);
		}
	}

}
