package io.tutti.training.job;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.CollectiveException;
import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.ElasticLoop;
import io.tutti.ElasticState;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.SharesLibtorch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** The group of an elastic job breaks after the last step, and its loop runs again. */
@Timeout(120)
@SharesLibtorch
class JobTotalsTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int SAMPLES = 1437;

	private static final int STEPS = 45;

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theSummaryCountsTheStepsOfTheBrokenGenerationOnce(boolean returns) throws Exception {
		ClassifierJob digits = ClassifierJob.defaults();
		ClassifierJob job = new ClassifierJob(1, digits.globalBatch(), digits.learningRate(), digits.seed(), 1, null,
				null, 0, null);
		try (SimulatedWorld first = new SimulatedWorld(1, Timeouts.DEFAULTS);
				SimulatedWorld second = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			List<TrainingSummary> summaries = RankThreads.run(1, LIMIT, (_) -> {
				try (EndsTwice group = new EndsTwice(first.group(0), second.group(0), returns)) {
					return new TrainingJob(group, job.task(), job.options(), TrainingListener.NONE).run();
				}
			});
			TrainingSummary summary = summaries.getFirst();
			assertThat(summary.steps()).isEqualTo(STEPS);
			assertThat(summary.trainingSeconds()).isPositive();
			assertThat(summary.samplesPerSecond() * summary.trainingSeconds()).isCloseTo(SAMPLES, within(0.5));
		}
	}

	/** Runs the loop to its end in two generations. */
	private static final class EndsTwice implements ElasticGroup {

		private final ProcessGroup first;

		private final ProcessGroup second;

		/** Whether the first loop returns before its group breaks. */
		private final boolean returns;

		private int commits;

		EndsTwice(ProcessGroup first, ProcessGroup second, boolean returns) {
			this.first = first;
			this.second = second;
			this.returns = returns;
		}

		@Override
		public <R> R run(ElasticState state, ElasticLoop<R> loop) {
			try {
				try {
					loop.run(this.first);
					assertThat(this.returns).isTrue();
				}
				catch (CollectiveException ex) {
					assertThat(this.returns).isFalse();
				}
				return loop.run(this.second);
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void commit() {
			if (++this.commits == STEPS && !this.returns) {
				this.first.abort(ExitCode.ABORTED, "broken after the last step");
			}
		}

		@Override
		public ProcessGroup group() {
			return this.second;
		}

		@Override
		public long generation() {
			return this.second.generation();
		}

		@Override
		public void onEvent(Consumer<ElasticEvent> listener) {
			// There are none.
		}

		@Override
		public void close() {
			// The test closes the groups.
		}

	}

}
