package io.tutti.training.job;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

import io.tutti.engine.FailureReason;
import io.tutti.training.internal.AtomicFile;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A job's summary as JSON.
 */
final class TrainingReport {

	private static final JsonMapper MAPPER = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

	private TrainingReport() {
	}

	private static Map<String, Object> fields(TrainingSummary summary) {
		Map<String, Object> fields = new LinkedHashMap<>();
		fields.put("worldSize", summary.worldSize());
		fields.put("backend", summary.backend());
		fields.put("epochs", summary.epochs());
		if (!Double.isNaN(summary.testScore())) {
			fields.put(summary.metric().field(), summary.testScore());
		}
		fields.put("samplesPerSecond", summary.samplesPerSecond());
		fields.put("allReducedBytes", summary.allReducedBytes());
		fields.put("communicationSeconds", summary.communicationSeconds());
		fields.put("checkpointSeconds", summary.checkpointSeconds());
		fields.put("parameterSha256", summary.parameterSha256());
		if (!summary.optimizerBytes().isEmpty()) {
			fields.put("optimizerBytes", summary.optimizerBytes());
		}
		if (summary.reforms() > 0) {
			fields.put("reforms", summary.reforms());
			fields.put("repeatedSteps", summary.repeatedSteps());
		}
		return fields;
	}

	/**
	 * Checks before training that the report can be a file and that the directory in
	 * which it is written exists.
	 * @throws ReportException if not
	 */
	static void requireUsable(Path file) {
		if (Files.isDirectory(file)) {
			throw new ReportException(
					"cannot write the report " + file + ": it is a directory; give the name of a file in it", null);
		}
		try {
			AtomicFile.target(file);
		}
		catch (NoSuchFileException ex) {
			throw new ReportException("cannot write the report " + file + ": there is no directory " + ex.getFile(),
					null);
		}
		catch (IOException ex) {
			throw new ReportException("cannot write the report " + file + ": " + FailureReason.of(ex), null);
		}
	}

	/**
	 * Writes a report atomically.
	 * @throws ReportException with the summary, if it cannot be written
	 */
	static void write(TrainingSummary summary, Path file) {
		try {
			AtomicFile.write(file,
					(MAPPER.writeValueAsString(fields(summary)) + "\n").getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new ReportException("cannot write the report " + file + ": " + FailureReason.of(ex)
					+ ". Free space, or give another path with --report", ex, summary);
		}
	}

}
