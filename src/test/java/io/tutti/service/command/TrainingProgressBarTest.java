package io.tutti.service.command;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import io.tutti.training.TestMetric;
import io.tutti.training.job.EpochResult;
import io.tutti.training.job.TrainingPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class TrainingProgressBarTest {

	private static final TrainingPlan PLAN = new TrainingPlan(0, 2, "tcp", "digits", 1437, 360, 9610, 2, 90, 0);

	@Test
	void startAndEpochsAreWrittenAsPermanentLines() {
		List<String> lines = lines(shown(StandardCharsets.UTF_8, PLAN));
		assertThat(lines).hasSize(4);
		assertThat(lines.get(0)).isEqualTo("training on digits: 1,437 samples and 360 for the test, 9,610 parameters, "
				+ "2 epochs of 45 steps, 2 ranks, backend tcp");
		assertThat(lines.get(1)).isEqualTo("epoch 1/2  loss 0.5000  test accuracy 96.50 %");
		assertThat(lines.get(2)).isEqualTo("epoch 2/2  loss 0.2500  test accuracy 97.50 %");
		assertThat(lines.get(3)).startsWith("train").contains("100%", "90/90").hasSizeLessThan(80);
	}

	@Test
	void theBarIsDrawnInPlace() {
		assertThat(shown(StandardCharsets.UTF_8, PLAN)).contains("\rtrain").contains("█");
	}

	@Test
	void aStreamWithoutBlocksGetsPlainCharacters() {
		assertThat(shown(StandardCharsets.US_ASCII, PLAN)).contains("=").doesNotContain("??");
	}

	@Test
	void aContinuedJobReportsItsFirstStep() {
		TrainingPlan plan = new TrainingPlan(0, 1, "tcp", "digits", 1437, 360, 9610, 2, 90, 45);
		assertThat(shown(StandardCharsets.UTF_8, plan)).contains("1 rank, continued from step 45");
	}

	@Test
	void withoutATerminalThereIsNoBarAndNoCarriageReturn() {
		assertThat(shown(StandardCharsets.UTF_8, PLAN, false)).doesNotContain("\r")
			.hasLineCount(3)
			.contains("epoch 2/2", "training on digits");
	}

	@Test
	void anEpochWithoutAnEvaluationHasItsLossOnly() {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (TrainingProgressBar bar = new TrainingProgressBar(new PrintStream(out, true, StandardCharsets.UTF_8),
				false)) {
			bar.epochDone(new EpochResult(1, 2, 0.5, TestMetric.ACCURACY, Double.NaN));
		}
		assertThat(out.toString(StandardCharsets.UTF_8).stripTrailing()).isEqualTo("epoch 1/2  loss 0.5000");
	}

	private static String shown(Charset charset, TrainingPlan plan) {
		return shown(charset, plan, true);
	}

	private static String shown(Charset charset, TrainingPlan plan, boolean live) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (TrainingProgressBar bar = new TrainingProgressBar(new PrintStream(bytes, false, charset), live)) {
			bar.started(plan);
			for (long step = plan.firstStep() + 1; step <= 90; step++) {
				bar.step(step, 0.5);
				if (step % 45 == 0) {
					bar.epochDone(new EpochResult((int) step / 45, 2, 22.5 / step, TestMetric.ACCURACY,
							0.955 + step / 4500.0));
				}
			}
		}
		return bytes.toString(charset);
	}

	/** The final state of each line after its carriage returns. */
	private static List<String> lines(String text) {
		return Arrays.stream(text.split("\n"))
			.map((line) -> line.substring(line.lastIndexOf('\r') + 1).stripTrailing())
			.toList();
	}

}
