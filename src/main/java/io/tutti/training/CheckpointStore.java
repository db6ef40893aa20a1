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
	void write(Checkpoint checkpoint) {
		try {
			AtomicFile.write(this.file, CheckpointCodec.encode(checkpoint));
		}
		catch (IOException ex) {
			throw CheckpointException.notWritten("cannot write checkpoint " + this.file + " of step "
					+ checkpoint.progress().step() + ": " + ex + "; the previous checkpoint is unchanged", ex);
		}
	}

	/**
	 * Returns rank 0's checkpoint on every rank, {@code null} if there is none. A
	 * collective call.
	 * @throws CheckpointException on every rank, if this job cannot continue from the
	 * checkpoint
	 */
	@Nullable Checkpoint restore(JobFingerprint job) {
		CheckpointLookup lookup = (this.group.rank() == 0) ? read(job) : CheckpointLookup.NOTHING;
		lookup = lookup.broadcast(this.group);
		return switch (lookup.kind()) {
			case ABSENT -> null;
			case REJECTED -> throw CheckpointException.rejected(lookup.text());
			case PRESENT -> CheckpointCodec.decode(lookup.content());
		};
	}

	private CheckpointLookup read(JobFingerprint job) {
		try {
			Files.createDirectories(this.directory);
		}
		catch (IOException ex) {
			return CheckpointLookup.rejected("the checkpoint directory " + this.directory + " cannot be created: "
					+ obstacle(this.directory, ex) + ". Give a directory that exists or can be created");
		}
		try {
			if (!Files.exists(this.file)) {
				return CheckpointLookup.NOTHING;
			}
			if (Files.size(this.file) > CheckpointLookup.MAX_BYTES) {
				return CheckpointLookup
					.rejected("checkpoint " + this.file + " is larger than " + CheckpointLookup.MAX_BYTES + " bytes");
			}
			return compareJob(Files.readAllBytes(this.file), job);
		}
		catch (IOException ex) {
			return CheckpointLookup.rejected("cannot read checkpoint " + this.file + ": " + ex);
		}
	}

	/**
	 * Why a directory cannot be created: a file in its path, else the system's reason.
	 */
	private static String obstacle(Path directory, IOException failure) {
		for (Path path = directory.toAbsolutePath(); path != null; path = path.getParent()) {
			if (Files.exists(path) && !Files.isDirectory(path)) {
				return path + " is not a directory";
			}
		}
		return failure.toString();
	}

	private CheckpointLookup compareJob(byte[] content, JobFingerprint job) {
		String advice = "; give another directory, or move the file away to start from the beginning";
		try {
			JobFingerprint kept = CheckpointCodec.decode(content).job();
			return job.firstDifference(kept)
				.map((value) -> CheckpointLookup.rejected("checkpoint " + this.file + " belongs to another job: it has "
						+ kept.describe(value.name()) + ", this job has " + value + advice))
				.orElseGet(() -> CheckpointLookup.present(content));
		}
		catch (IllegalArgumentException ex) {
			return CheckpointLookup
				.rejected("cannot continue from checkpoint " + this.file + ": " + ex.getMessage() + advice);
		}
	}

}
