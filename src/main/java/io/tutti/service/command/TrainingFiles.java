package io.tutti.service.command;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import io.tutti.BadConfigurationException;
import io.tutti.engine.FailureReason;
import io.tutti.training.checkpoint.CheckpointException;
import io.tutti.training.job.ReportException;
import io.tutti.training.internal.AtomicFile;
import io.tutti.training.job.TrainingOptions;
import org.jspecify.annotations.Nullable;

/**
 * Checks a job's files before rendezvous. Later, a mistake would be found only after
 * every rank has joined, and one in the report's path only after the whole training.
 */
final class TrainingFiles {

	private TrainingFiles() {
	}

	/**
	 * Requires that the report and the checkpoint are writable. For a rank that writes
	 * them: rank 0, and each rank of an elastic job, since it may become rank 0.
	 * @throws BadConfigurationException naming the file and the option
	 * @throws ReportException or
	 * @throws CheckpointException if a file can be created but not written, as on a full
	 * disk, for which a restart may help
	 */
	static void requireUsable(TrainingOptions options) {
		requireReport(options.report());
		requireCheckpoint((options.checkpoint() != null) ? options.checkpoint().directory() : null);
	}

	private static void requireReport(@Nullable Path report) {
		if (report == null) {
			return;
		}
		if (Files.isDirectory(report)) {
			throw unwritable(report, "it is a directory");
		}
		Path target = target(report);
		Path folder = AtomicFile.directoryOf(target);
		try {
			String problem = !Files.exists(target) || Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)
					? problemOfWritingTo(folder) : Files.isWritable(target) ? null : "permission denied";
			if (problem != null) {
				throw unwritable(report, problem);
			}
		}
		catch (IOException ex) {
			throw new ReportException(unwritable(folder, ex, "--report"), ex);
		}
	}

	private static Path target(Path report) {
		try {
			return AtomicFile.target(report);
		}
		catch (NoSuchFileException ex) {
			throw unwritable(report, "there is no directory " + ex.getFile());
		}
		catch (IOException ex) {
			throw unwritable(report, FailureReason.of(ex));
		}
	}

	private static BadConfigurationException unwritable(Path report, String problem) {
		return refused("the report " + report + " cannot be written: " + problem, "--report");
	}

	/**
	 * Creates and deletes a file, since permissions alone do not show a full or read-only
	 * file system.
	 * @return why no file can be created, {@code null} if one can be created and written
	 */
	private static @Nullable String problemOfWritingTo(Path folder) throws IOException {
		try {
			Path probe = Files.createTempFile(folder, ".tutti-", ".tmp");
			try {
				Files.write(probe, new byte[1]);
			}
			finally {
				Files.deleteIfExists(probe);
			}
			return null;
		}
		catch (AccessDeniedException ex) {
			return "permission denied for " + folder;
		}
		catch (FileSystemException ex) {
			return (ex.getReason() != null) ? ex.getReason() + " in " + folder : "no file can be created in " + folder;
		}
	}

	private static String unwritable(Path folder, IOException reason, String option) {
		return "no file can be written in " + folder + ": " + FailureReason.of(reason)
				+ ". Free space, or give another path with " + option;
	}

	/** Checks the nearest existing parent, since a missing folder is created later. */
	private static void requireCheckpoint(@Nullable Path folder) {
		Path existing = (folder != null) ? folder.toAbsolutePath() : null;
		while (existing != null && !Files.exists(existing)) {
			existing = existing.getParent();
		}
		if (existing == null) {
			return;
		}
		try {
			String problem = Files.isDirectory(existing) ? problemOfWritingTo(existing)
					: existing + " is not a directory";
			if (problem != null) {
				throw refused("the checkpoint directory " + folder + " cannot be used: " + problem, "--checkpoint");
			}
		}
		catch (IOException ex) {
			throw CheckpointException.onThisRank(unwritable(existing, ex, "--checkpoint"), ex);
		}
	}

	private static BadConfigurationException refused(String problem, String option) {
		return new BadConfigurationException(problem, "Check " + option);
	}

}
