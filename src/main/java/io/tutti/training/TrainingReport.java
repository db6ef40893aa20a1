package io.tutti.training;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A job's summary as JSON; the components are its fields.
 */
record TrainingReport(int worldSize, String backend, int epochs, double testAccuracy, double samplesPerSecond,
		long allReducedBytes, double communicationSeconds, List<String> parameterSha256) {

	private static final JsonMapper MAPPER = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

	static TrainingReport of(TrainingSummary summary) {
		return new TrainingReport(summary.worldSize(), summary.backend(), summary.epochs(), summary.testAccuracy(),
				summary.samplesPerSecond(), summary.allReducedBytes(), summary.communicationSeconds(),
				summary.parameterSha256());
	}

	/**
	 * Checks before training that the directory of the report exists.
	 * @throws ReportException if the directory does not exist
	 */
	static void requireDirectory(Path file) {
		Path directory = AtomicFile.directoryOf(file);
		if (!Files.isDirectory(directory)) {
			throw new ReportException("cannot write the report " + file + ": there is no directory " + directory, null);
		}
	}

	/** Writes the report atomically. */
	void write(Path file) {
		try {
			AtomicFile.write(file, MAPPER.writeValueAsBytes(this));
		}
		catch (IOException ex) {
			throw new ReportException("cannot write the report " + file + ": " + ex, ex);
		}
	}

}
