package io.tutti.service.command;

import java.util.List;
import java.util.Locale;

import io.tutti.training.job.ReportException;
import io.tutti.training.job.TrainingSummary;

/**
 * Formats the summary of a training job as text.
 */
final class TrainingReportText {

	private static final int HASH_CHARS = 16;

	private TrainingReportText() {
	}

	/** Several lines, without a line separator after the last. */
	static String of(TrainingSummary summary) {
		return String.join("\n", progress(summary),
				score(summary) + format("speed           %s, %s", speed(summary),
						ranks(summary.worldSize(), summary.backend())),
				format("all-reduced     %,.1f MB by each rank", summary.allReducedBytes() / 1e6),
				format("communicating   %.1f %% of the time (%.2f of %.2f s)", 100 * summary.communicationShare(),
						summary.communicationSeconds(), summary.trainingSeconds()),
				optimizer(summary) + checkpoints(summary) + reforms(summary)
						+ format("parameters      sha256 %s…, the same on every rank",
								summary.parameterSha256().getFirst().substring(0, HASH_CHARS)));
	}

	/** Prints the summary of a job that has trained, but cannot write its report. */
	static void print(ReportException failure) {
		TrainingSummary summary = failure.summary();
		if (summary != null) {
			System.out.println(of(summary));
		}
	}

	private static String speed(TrainingSummary summary) {
		return (summary.trainingSeconds() > 0) ? format("%,.0f samples/s", summary.samplesPerSecond())
				: "no step in this run";
	}

	private static String progress(TrainingSummary summary) {
		return format("%-15s %s, %s", summary.stopped() ? "stopped after" : "done", counted(summary.steps(), "step"),
				counted(summary.epochs(), "epoch"));
	}

	/** A line if the model was evaluated, else nothing. */
	private static String score(TrainingSummary summary) {
		return Double.isNaN(summary.testScore()) ? ""
				: format("%-15s %s%n", "test " + summary.metric().name(), summary.metric().format(summary.testScore()));
	}

	/** A line if the optimizer was divided among the ranks, else nothing. */
	private static String optimizer(TrainingSummary summary) {
		List<Long> bytes = summary.optimizerBytes();
		return bytes.isEmpty() ? "" : format("optimizer       %.2f MB of state on rank 0, %.2f MB on all ranks%n",
				bytes.getFirst() / 1e6, bytes.stream().mapToLong(Long::longValue).sum() / 1e6);
	}

	/** A line if training waited for checkpoints, else nothing. */
	private static String checkpoints(TrainingSummary summary) {
		return (summary.checkpointSeconds() > 0)
				? format("checkpoints     training waited %.3f s for them%n", summary.checkpointSeconds()) : "";
	}

	/** A line if the group has formed again, else nothing. */
	private static String reforms(TrainingSummary summary) {
		return (summary.reforms() > 0) ? format("formed again    %s, %s repeated%n", counted(summary.reforms(), "time"),
				counted(summary.repeatedSteps(), "step")) : "";
	}

	/** Such as {@code 1 step} or {@code 1,350 steps}. */
	static String counted(long count, String noun) {
		return format("%,d %s%s", count, noun, (count == 1) ? "" : "s");
	}

	/** Such as {@code 2 ranks, backend tcp}. */
	static String ranks(int worldSize, String backend) {
		return (worldSize == 1) ? "1 rank" : worldSize + " ranks, backend " + backend;
	}

	private static String format(String format, Object... values) {
		return String.format(Locale.ROOT, format, values);
	}

}
