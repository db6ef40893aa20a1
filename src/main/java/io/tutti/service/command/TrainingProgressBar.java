package io.tutti.service.command;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

import io.tutti.training.checkpoint.SavedCheckpoint;
import io.tutti.training.job.EpochResult;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingPlan;
import io.tutti.training.job.TrainingSummary;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * Shows the progress of a training job: a line per epoch and, on a terminal, a progress
 * bar of the steps below them. Used on one rank only, since all ranks would show the
 * same.
 */
final class TrainingProgressBar implements TrainingListener, AutoCloseable {

	private static final int UPDATE_MILLIS = 200;

	private final ProgressLines lines;

	private final boolean live;

	private final ProgressBarStyle style;

	private @Nullable ProgressBar bar;

	/**
	 * Creates a bar that appears when the job starts.
	 * @param out the stream to draw on, in place by carriage returns; it stays open
	 * @param live whether to draw the bar; in a file or another launcher's pipe its
	 * updates would appear one after another
	 */
	TrainingProgressBar(PrintStream out, boolean live) {
		this.lines = new ProgressLines(out);
		this.live = live;
		this.style = out.charset().newEncoder().canEncode('█') ? ProgressBarStyle.UNICODE_BLOCK
				: ProgressBarStyle.ASCII;
	}

	@Override
	public void started(TrainingPlan plan) {
		this.lines.print(describe(plan));
		if (this.live) {
			this.bar = bar(plan);
		}
	}

	private ProgressBar bar(TrainingPlan plan) {
		return new ProgressBarBuilder().setTaskName("train")
			.setStyle(this.style)
			.setInitialMax(plan.totalSteps())
			.startsFrom(plan.firstStep(), Duration.ZERO)
			.setUnit(" steps", 1)
			.setUpdateIntervalMillis(UPDATE_MILLIS)
			.setConsumer(this.lines)
			.build();
	}

	@Override
	public void step(long step, double loss) {
		if (this.bar != null) {
			this.bar.stepTo(step);
			this.bar.setExtraMessage(String.format(Locale.ROOT, " loss %.4f", loss));
		}
	}

	@Override
	public void epochDone(EpochResult result) {
		int width = Integer.toString(result.epochs()).length();
		String test = Double.isNaN(result.testScore()) ? ""
				: "  test " + result.metric().name() + " " + result.metric().format(result.testScore());
		this.lines.print(String.format(Locale.ROOT, "epoch %" + width + "d/%d  loss %.4f", result.epoch(),
				result.epochs(), result.loss()) + test);
	}

	@Override
	public void checkpointed(SavedCheckpoint saved) {
		if (this.bar != null) {
			this.bar.setExtraMessage(" checkpoint at step " + saved.step());
		}
	}

	@Override
	public void reformed(int worldSize, long step) {
		this.lines.print("continuing after step " + step + " with " + TrainingReportText.counted(worldSize, "rank"));
	}

	@Override
	public void stopping(long step, String reason) {
		this.lines.print("stopping after step " + step + ": " + reason);
	}

	@Override
	public void finished(TrainingSummary summary) {
		close();
	}

	/** Ends the bar at its current step. A second call has no effect. */
	@Override
	public void close() {
		if (this.bar != null) {
			this.bar.close();
			this.bar = null;
		}
	}

	private static String describe(TrainingPlan plan) {
		return String.format(Locale.ROOT,
				"training on %s: %,d samples and %,d for the test, %,d parameters, %s of %s, %s%s", plan.data(),
				plan.trainingSamples(), plan.testSamples(), plan.parameters(),
				TrainingReportText.counted(plan.epochs(), "epoch"),
				TrainingReportText.counted(plan.totalSteps() / plan.epochs(), "step"),
				TrainingReportText.ranks(plan.worldSize(), plan.backend()),
				(plan.firstStep() > 0) ? ", continued from step " + plan.firstStep() : "");
	}

}
