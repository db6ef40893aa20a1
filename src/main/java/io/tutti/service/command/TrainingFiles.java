package io.tutti.service.command;

import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.service.config.ConfigurationException;
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
	 * Requires on rank 0, which writes the report and the checkpoint, that both are
	 * writable.
	 * @throws ConfigurationException naming the file and the option
	 */
	static void requireUsable(TrainingOptions options, int rank) {
		if (rank == 0) {
			requireReport(options.report());
			requireCheckpoint((options.checkpoint() != null) ? options.checkpoint().directory() : null);
		}
	}

	private static void requireReport(@Nullable Path report) {
		if (report == null) {
			return;
		}
		Path folder = report.toAbsolutePath().getParent();
		if (Files.isDirectory(report)) {
			throw refused("the report " + report + " cannot be written: it is a directory", "--report");
		}
		if (folder == null || !Files.isDirectory(folder)) {
			throw refused("the report " + report + " cannot be written: there is no directory " + folder, "--report");
		}
		if (!Files.isWritable(Files.exists(report) ? report : folder)) {
			throw refused("the report " + report + " cannot be written: permission denied", "--report");
		}
	}

	/** Checks the nearest existing parent, since a missing folder is created later. */
	private static void requireCheckpoint(@Nullable Path folder) {
		Path existing = (folder != null) ? folder.toAbsolutePath() : null;
		while (existing != null && !Files.exists(existing)) {
			existing = existing.getParent();
		}
		if (existing != null && !(Files.isDirectory(existing) && Files.isWritable(existing))) {
			throw refused(
					"the checkpoint directory " + folder + " cannot be used: " + existing
							+ (Files.isDirectory(existing) ? " cannot be written" : " is not a directory"),
					"--checkpoint");
		}
	}

	private static ConfigurationException refused(String problem, String option) {
		return new ConfigurationException(problem, "Check " + option, null);
	}

}
