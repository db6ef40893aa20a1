package io.tutti.training.job;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.tutti.BadConfigurationException;
import io.tutti.CollectiveException;
import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.ElasticLoop;
import io.tutti.ElasticState;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.checkpoint.CheckpointException;
import io.tutti.training.checkpoint.HeldCheckpoints;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** The loops of an elastic job end: after the last step, or with a failure. */
@Timeout(120)
@SharesLibtorch
class ElasticJobEndTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int SAMPLES = 1437;

	private static final int STEPS = 45;

	/** The group breaks after the last step, and the loop runs again. */
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

	/** A rank may still be in the collective that has shown the divergence to another. */
	@Test
	void aRankWaitsForTheOthersBeforeItEndsTheJobWithAFailureThatAllOfThemFind() throws Exception {
		ClassifierJob job = new ClassifierJob(5, 32, 1, 42, 1, null, null, 0, null);
		CountDownLatch firstEnded = new CountDownLatch(1);
		AtomicBoolean waited = new AtomicBoolean();
		AtomicBoolean endedEarly = new AtomicBoolean();
		TrainingListener late = new TrainingListener() {

			@Override
			public void epochDone(EpochResult result) {
				waited.set(true);
				try {
					endedEarly.compareAndSet(false, firstEnded.await(500, TimeUnit.MILLISECONDS));
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}

		};
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				try (EndsOnce group = new EndsOnce(world.group(rank), firstEnded)) {
					return new TrainingJob(group, job.task(), job.options(), (rank == 0) ? TrainingListener.NONE : late)
						.run();
				}
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(TrainingDivergedException.class));
			assertThat(waited).isTrue();
			assertThat(endedEarly).isFalse();
		}
	}

	/** Otherwise the others would continue without it, once they no longer wait. */
	@Test
	void aRankThatFailsWhileItsCheckpointIsWrittenEndsTheOthersAtOnce(@TempDir Path directory) throws Exception {
		ClassifierJob job = new ClassifierJob(1, 32, 0.05, 42, 1, null, directory, 1, null);
		TrainingListener failing = new TrainingListener() {

			@Override
			public void step(long step, double loss) {
				if (step == 2) {
					throw new IllegalStateException("the second step");
				}
			}

		};
		try (HeldCheckpoints held = new HeldCheckpoints();
				SimulatedWorld world = new SimulatedWorld(2,
						Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(20)))) {
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				try (EndsOnce group = new EndsOnce(world.group(rank), new CountDownLatch(1))) {
					return new TrainingJob(group, job.task(), job.options(),
							(rank == 0) ? failing : TrainingListener.NONE)
						.run();
				}
				finally {
					if (rank == 1) {
						held.release();
					}
				}
			});
			assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining(
						"rank 0 cannot continue training: java.lang.IllegalStateException: the second step");
		}
	}

	/** The others wait for the end of the last write. */
	@Test
	void aCheckpointThatCannotBeWrittenEndsTheJobOnEveryRank(@TempDir Path directory) throws Exception {
		ClassifierJob job = new ClassifierJob(1, 32, 0.05, 42, 1, null, directory, 0, null);
		TrainingListener obstructing = new TrainingListener() {

			@Override
			public void started(TrainingPlan plan) {
				assertThat(directory.resolve("step-00000045.0.tmp").toFile().mkdir()).isTrue();
			}

		};
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				try (EndsOnce group = new EndsOnce(world.group(rank), new CountDownLatch(1))) {
					return new TrainingJob(group, job.task(), job.options(),
							(rank == 0) ? obstructing : TrainingListener.NONE)
						.run();
				}
			});
			assertThat(outcomes.get(0).failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("cannot write checkpoint of step 45");
			assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("rank 0 cannot continue training: cannot write checkpoint of step 45");
		}
	}

	/** Each rank may become rank 0. */
	@Test
	void aRankThatCannotWriteTheReportDoesNotJoin(@TempDir Path directory) {
		TrainingOptions options = new TrainingOptions(1, 32, 1, 1, null, directory.resolve("none/report.json"));
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS);
				EndsOnce group = new EndsOnce(world.group(1), new CountDownLatch(1))) {
			TrainingJob job = new TrainingJob(group, ClassifierJob.defaults().task(), options, TrainingListener.NONE);
			assertThatExceptionOfType(ReportException.class).isThrownBy(job::run);
			assertThat(group.runs).isFalse();
		}
	}

	/** No launcher starts such a rank again. */
	@ParameterizedTest
	@MethodSource
	void optionsThatHoldForOneNumberOfRanksAreRefused(TrainingOptions options, String problem) {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS);
				EndsOnce group = new EndsOnce(world.group(1), new CountDownLatch(1))) {
			assertThatThrownBy(
					() -> new TrainingJob(group, ClassifierJob.defaults().task(), options, TrainingListener.NONE))
				.isInstanceOf(BadConfigurationException.class)
				.hasMessageContaining(problem)
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.BAD_CONFIGURATION);
		}
	}

	private static Stream<Arguments> optionsThatHoldForOneNumberOfRanksAreRefused() {
		return Stream.of(Arguments.of(TrainingOptions.defaults().withShardedOptimizer(true), "ZeRO-1"), Arguments
			.of(new TrainingOptions(1, 32, 1, 1, null, null, RankShares.parse("1,2")), "rank weights [1.0, 2.0]"));
	}

	/** Runs the loop in one generation, and aborts its group if it fails. */
	private static final class EndsOnce extends FakeElasticGroup {

		private final CountDownLatch ended;

		private boolean runs;

		EndsOnce(ProcessGroup group, CountDownLatch ended) {
			super(group);
			this.ended = ended;
		}

		@Override
		<R> R generations(ElasticState state, ElasticLoop<R> loop) throws Exception {
			this.runs = true;
			try {
				return loop.run(group());
			}
			catch (RuntimeException ex) {
				this.ended.countDown();
				group().abort(ExitCode.ofOthers(ex), "failed");
				throw ex;
			}
		}

		@Override
		public void commit() {
			// No process joins.
		}

	}

	/** Runs the loop to its end in two generations. */
	private static final class EndsTwice extends FakeElasticGroup {

		private final ProcessGroup first;

		/** Whether the first loop returns before its group breaks. */
		private final boolean returns;

		private int commits;

		EndsTwice(ProcessGroup first, ProcessGroup second, boolean returns) {
			super(second);
			this.first = first;
			this.returns = returns;
		}

		@Override
		<R> R generations(ElasticState state, ElasticLoop<R> loop) throws Exception {
			try {
				loop.run(this.first);
				assertThat(this.returns).isTrue();
			}
			catch (CollectiveException ex) {
				assertThat(this.returns).isFalse();
			}
			return loop.run(group());
		}

		@Override
		public void commit() {
			if (++this.commits == STEPS && !this.returns) {
				this.first.abort(ExitCode.ABORTED, "broken after the last step");
			}
		}

	}

	private abstract static class FakeElasticGroup implements ElasticGroup {

		private final ProcessGroup last;

		FakeElasticGroup(ProcessGroup last) {
			this.last = last;
		}

		abstract <R> R generations(ElasticState state, ElasticLoop<R> loop) throws Exception;

		@Override
		public <R> R run(ElasticState state, ElasticLoop<R> loop) {
			try {
				return generations(state, loop);
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public ProcessGroup group() {
			return this.last;
		}

		@Override
		public long generation() {
			return this.last.generation();
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
