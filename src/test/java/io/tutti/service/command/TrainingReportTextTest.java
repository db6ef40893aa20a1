package io.tutti.service.command;

import java.util.List;

import io.tutti.training.TestMetric;
import io.tutti.training.job.TrainingSummary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class TrainingReportTextTest {

	private static final String HASH = "0123456789abcdef".repeat(4);

	@Test
	void theSummaryContainsAccuracySpeedBytesAndShare() {
		assertThat(TrainingReportText.of(summary())).isEqualTo("""
				done            1,350 steps, 30 epochs
				test accuracy   97.50 %
				speed           45,123 samples/s, 2 ranks, backend tcp
				all-reduced     52.1 MB by each rank
				communicating   25.0 % of the time (0.24 of 0.96 s)
				parameters      sha256 0123456789abcdef…, the same on every rank""");
	}

	@Test
	void anotherMetricIsShownByItsName() {
		TrainingSummary summary = new TrainingSummary(1, "tcp", 1, 1, TestMetric.LOSS, 1.25, 1, 0, 1, 0, List.of(HASH),
				false, 0, 0, 0, List.of());
		assertThat(TrainingReportText.of(summary)).contains("test loss       1.2500\n");
	}

	@Test
	void aStoppedJobIsReportedAsStopped() {
		TrainingSummary summary = new TrainingSummary(1, "tcp", 1, 2, TestMetric.ACCURACY, Double.NaN, 1, 0, 1, 0,
				List.of(HASH), true, 0, 0, 0, List.of());
		assertThat(TrainingReportText.of(summary)).startsWith("stopped after   2 steps, 1 epoch\nspeed ");
	}

	@Test
	void aJobThatWasCompleteHasNoSpeed() {
		TrainingSummary summary = new TrainingSummary(1, "tcp", 30, 1350, TestMetric.ACCURACY, 0.5, 0, 0, 0, 0,
				List.of(HASH), false, 0, 0, 0, List.of());
		assertThat(TrainingReportText.of(summary)).contains("\nspeed           no step in this run, 1 rank");
	}

	@Test
	void oneEpochIsNotPlural() {
		TrainingSummary summary = new TrainingSummary(1, "tcp", 1, 1, TestMetric.ACCURACY, 0.5, 1, 0, 1, 0,
				List.of(HASH), false, 0, 0, 0, List.of());
		assertThat(TrainingReportText.of(summary)).startsWith("done            1 step, 1 epoch\n");
	}

	@Test
	void theWaitForCheckpointsIsShown() {
		TrainingSummary summary = new TrainingSummary(1, "tcp", 1, 1, TestMetric.ACCURACY, 0.5, 1, 0, 1, 0,
				List.of(HASH), false, 0.0123, 0, 0, List.of());
		assertThat(TrainingReportText.of(summary)).contains("\ncheckpoints     training waited 0.012 s for them\n");
		assertThat(TrainingReportText.of(summary())).doesNotContain("checkpoints");
	}

	@Test
	void theMemoryThatADividedOptimizerSavesIsShown() {
		TrainingSummary summary = new TrainingSummary(3, "tcp", 1, 1, TestMetric.ACCURACY, 0.5, 1, 0, 1, 0,
				List.of(HASH), false, 0, 0, 0, List.of(1_200_000L, 1_100_000L, 1_000_000L));
		assertThat(TrainingReportText.of(summary))
			.contains("\noptimizer       1.20 MB of state on rank 0, 3.30 MB on all ranks\n");
		assertThat(TrainingReportText.of(summary())).doesNotContain("optimizer");
	}

	private static TrainingSummary summary() {
		return new TrainingSummary(2, "tcp", 30, 1350, TestMetric.ACCURACY, 0.975, 45_123.4, 52_096_500, 0.96, 0.24,
				List.of(HASH, HASH), false, 0, 0, 0, List.of());
	}

}
