package io.tutti.training.job;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.Batch;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.SampleCounts;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TestMetric;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.TrainingTask;
import io.tutti.training.checkpoint.CheckpointException;
import io.tutti.training.checkpoint.CheckpointFixture;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.checkpoint.HeldCheckpoints;
import io.tutti.training.task.CharacterTransformer;
import io.tutti.training.task.DigitsConvolution;
import org.assertj.core.data.Percentage;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.LBFGS;
import org.bytedeco.pytorch.LBFGSOptions;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tasks other than the classifier: the bundled ones, and ones that break the contract.
 */
@Timeout(300)
@SharesLibtorch
class TrainingTaskTest {

	/** What an optimizer's saved state has in addition to its tensors, at most. */
	private static final long ARCHIVE_BYTES = 20_000;

	private static final Duration LIMIT = Duration.ofSeconds(200);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(60));

	private static final Duration DELAY = Duration.ofMillis(100);

	@TempDir
	private Path directory;

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3 })
	void aConvolutionWithBatchNormalizationIsLearntAndItsBuffersAreEqual(int worldSize) throws Exception {
		List<TrainingSummary> summaries = train(worldSize, (_) -> convolution(), options(3, null));
		assertThat(summaries.getFirst().testScore()).isGreaterThan(0.95);
		assertThat(summaries).allSatisfy((summary) -> {
			assertThat(summary.parameterSha256()).hasSize(worldSize)
				.allMatch(summaries.getFirst().parameterSha256().getFirst()::equals);
			assertThat(summary.testScore()).isEqualTo(summaries.getFirst().testScore());
		});
	}

	@Test
	void aTransformerWithTiedWeightsLearnsTheText() throws Exception {
		TrainingSummary summary = train(2, (_) -> transformer(), options(10, null)).getFirst();
		// The most frequent character alone is right in 19 % of the places.
		assertThat(summary.testScore()).isGreaterThan(0.45);
	}

	@Test
	void theSameStepsAtAnotherWorldSizeGiveTheSameTransformerUpToRounding() throws Exception {
		List<Double> losses = new ArrayList<>();
		for (int worldSize : new int[] { 1, 3 }) {
			try (SimulatedWorld world = new SimulatedWorld(worldSize, TIMEOUTS)) {
				RankThreads.outcomes(worldSize, LIMIT, (rank) -> new TrainingJob(world.group(rank), transformer(),
						options(1, null), new TrainingListener() {
							@Override
							public void epochDone(EpochResult result) {
								if (rank == 0) {
									losses.add(result.loss());
								}
							}
						})
					.run());
			}
		}
		assertThat(losses).hasSize(2);
		assertThat(losses.get(1)).isCloseTo(losses.get(0), Percentage.withPercentage(0.01));
	}

	@Test
	void aStoppedAndContinuedConvolutionIsBitIdenticalToAnUninterruptedOne() throws Exception {
		String undisturbed = hash(train(2, (_) -> convolution(), options(2, null)));
		List<TrainingSummary> stopped = train(2, (_) -> convolution(), options(2, this.directory), stopAfter(20));
		assertThat(stopped).allMatch(TrainingSummary::stopped);
		List<TrainingSummary> continued = train(2, (_) -> convolution(), options(2, this.directory));
		assertThat(continued.getFirst().steps()).isEqualTo(90);
		assertThat(hash(continued)).isEqualTo(undisturbed);
	}

	/** The state of Adam: two moments of each value, and the number of steps. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3 })
	void aDividedOptimizerTrainsTheSameParametersWithAPartOfTheStateOnEachRank(int worldSize) throws Exception {
		TrainingSummary whole = train(worldSize, (_) -> convolution(), options(1, null)).getFirst();
		List<TrainingSummary> divided = train(worldSize, (_) -> convolution(),
				options(1, null).withShardedOptimizer(true));
		assertThat(hash(divided)).isEqualTo(whole.parameterSha256().getFirst());
		assertThat(whole.optimizerBytes()).isEmpty();
		List<Long> bytes = divided.getFirst().optimizerBytes();
		assertThat(bytes).hasSize(worldSize);
		long all = bytes.stream().mapToLong(Long::longValue).sum();
		assertThat(all).isBetween(stateBytesOfAdam(), stateBytesOfAdam() + worldSize * ARCHIVE_BYTES);
		assertThat(bytes).allMatch((own) -> worldSize == 1 || own < 0.7 * all);
	}

	private static long stateBytesOfAdam() {
		try (TrainingTask task = convolution()) {
			task.load(1, TrainingDevice.CPU);
			try (TensorVector parameters = task.model().parameters()) {
				return Stream.of(parameters.get()).mapToLong((one) -> 2 * one.numel() * Float.BYTES + Long.BYTES).sum();
			}
		}
	}

	/** Jobs continue from each other's checkpoints, whether the optimizer is divided. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aDividedOptimizerContinuesFromAWholeOneAndTheOtherWayRound(boolean divided) throws Exception {
		String undisturbed = hash(train(2, (_) -> convolution(), options(2, null)));
		train(2, (_) -> convolution(), options(2, this.directory).withShardedOptimizer(divided), stopAfter(20));
		TrainingOptions next = options(2, this.directory).withShardedOptimizer(!divided);
		assertThat(hash(train(2, (_) -> convolution(), next))).isEqualTo(undisturbed);
	}

	/** Rank 2 has no part: the model has two parameters. */
	@Test
	void aRankWithoutAPartOfTheOptimizerTrainsAndSaves() throws Exception {
		String whole = hash(train(3, (_) -> new Line(), options(2, null)));
		TrainingOptions divided = options(2, this.directory).withShardedOptimizer(true);
		assertThat(hash(train(3, (_) -> new Line(), divided))).isEqualTo(whole);
	}

	@Test
	void ranksThatDivideTheOptimizerAndOthersFailTogether() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT,
					(rank) -> new TrainingJob(world.group(rank), new Line(),
							options(1, null).withShardedOptimizer(rank == 1), TrainingListener.NONE)
						.run());
			assertThat(outcomes).allSatisfy(
					(outcome) -> assertThat(outcome.failure()).hasMessageContaining("rank 1 has optimizer divided"));
		}
	}

	/** The order of the samples depends on their number. */
	@Test
	void ranksThatLoadDifferentNumbersOfSamplesFailTogether() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (rank) -> new Line() {
			@Override
			public SampleCounts load(long seed, TrainingDevice device) {
				return new SampleCounts(4 - rank, 2);
			}
		}, options(1, null), (_) -> TrainingListener.NONE);
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure())
			.hasMessageContaining("rank 1 has training samples 3, but rank 0 has training samples 4"));
	}

	@Test
	void aJobDoesNotContinueWithAnotherNumberOfSamples() throws Exception {
		train(1, (_) -> new Line(), options(1, this.directory));
		Outcome<TrainingSummary> outcome = outcomes(1, (_) -> new Line() {
			@Override
			public SampleCounts load(long seed, TrainingDevice device) {
				return new SampleCounts(3, 2);
			}
		}, options(2, this.directory), (_) -> TrainingListener.NONE).getFirst();
		assertThat(outcome.failure())
			.hasMessageContaining("it has training samples 4, this job has training samples 3");
	}

	@ParameterizedTest
	@ValueSource(strings = { "seed", "global batch", "training samples", "test samples", "epochs", "device",
			"rank weights", "optimizer", "checkpoint" })
	void anIdentityWithTheNameOfAnOptionIsRefused(String name) throws Exception {
		assertFails(new Line() {
			@Override
			public Map<String, String> identity() {
				return Map.of(name, "7");
			}
		}, ExitCode.BAD_CONFIGURATION, "identity: two values of a job have the same name");
	}

	/** Rank 1 has no sample in the last step of an epoch. */
	@Test
	void constantBuffersStayAsTheyAre() throws Exception {
		TrainingOptions options = new TrainingOptions(2, 3, 1, 1, null, null);
		assertThat(hash(train(2, (_) -> new Constants(), options)))
			.isEqualTo(hash(train(1, (_) -> new Constants(), options)));
	}

	/** Its average would differ in the last bit. */
	@Test
	void aBufferThatDoesNotChangeAfterACheckpointStaysAsItIs() throws Exception {
		CheckpointOptions checkpoints = CheckpointOptions.of(this.directory);
		train(2, (_) -> new FilledOnce(), new TrainingOptions(1, 3, 1, 1, checkpoints, null));
		assertThat(hash(train(2, (_) -> new FilledOnce(), new TrainingOptions(3, 3, 1, 1, checkpoints, null))))
			.isEqualTo(hash(train(2, (_) -> new FilledOnce(), new TrainingOptions(3, 3, 1, 1, null, null))));
	}

	@Test
	void theBytesOfBuffersCount() throws Exception {
		TrainingOptions options = new TrainingOptions(1, 3, 1, 1, null, null);
		TrainingSummary without = train(2, (_) -> new Countdown(), options).getFirst();
		TrainingSummary with = train(2, (_) -> new FilledOnce(), options).getFirst();
		// In each step the ranks say whether the buffer has changed.
		assertThat(with.allReducedBytes() - without.allReducedBytes())
			.isEqualTo(1000 * Double.BYTES + with.steps() * Long.BYTES);
	}

	/** The first step fills its buffer. */
	private static final class FilledOnce extends Countdown {

		private Tensor table;

		@Override
		public Module model() {
			Module model = super.model();
			this.table = new Tensor(model.register_buffer("table", torch.zeros(1000).to(torch.ScalarType.Double)));
			return model;
		}

		@Override
		public Tensor losses(Batch batch) {
			if (this.table.sum().item_double() == 0) {
				this.table.copy_(
						torch.arange(new Scalar(1000.0)).to(torch.ScalarType.Double).add(new Scalar(1.0)).reciprocal());
			}
			return super.losses(batch);
		}

	}

	/** Rank 1 has no sample in the last step of an epoch. */
	@Test
	void aCounterThatDecreasesIsThatOfTheRanksWithSamples() throws Exception {
		TrainingOptions options = new TrainingOptions(2, 2, 1, 1, null, null);
		assertThat(hash(train(2, (_) -> new Countdown(), options)))
			.isEqualTo(hash(train(1, (_) -> new Countdown(), options)));
	}

	/** Without a gradient, so that the result is the same at any world size. */
	private static class Countdown extends Line {

		Tensor steps;

		@Override
		public SampleCounts load(long seed, TrainingDevice device) {
			return new SampleCounts(5, 2);
		}

		@Override
		public Module model() {
			Module model = super.model();
			this.steps = new Tensor(model.register_buffer("steps", torch.tensor(new long[] { 100 })));
			return model;
		}

		@Override
		public Optimizer optimizer(TensorVector parameters) {
			return new SGD(parameters, new SGDOptions(0));
		}

		@Override
		public Tensor losses(Batch batch) {
			this.steps.sub_(new Scalar(1L));
			return this.layer.forward(torch.ones(batch.size(), 1)).square().view(-1);
		}

		@Override
		public Tensor scores(Batch batch) {
			return torch.ones(batch.size());
		}

	}

	/** Rank 1 has no sample to evaluate. */
	@Test
	void buffersThatChangeInAnEvaluationKeepTheirValues() throws Exception {
		List<Tensor> counters = Collections.synchronizedList(new ArrayList<>());
		train(2, (_) -> new Countdown() {

			@Override
			public SampleCounts load(long seed, TrainingDevice device) {
				return new SampleCounts(5, 1);
			}

			@Override
			public Tensor scores(Batch batch) {
				counters.add(this.steps);
				this.steps.sub_(new Scalar(7L));
				return super.scores(batch);
			}

			@Override
			public void close() {
				assertThat(this.steps.item_long()).isEqualTo(94);
			}

		}, new TrainingOptions(2, 2, 1, 1, null, null));
		assertThat(counters).isNotEmpty();
	}

	/** The ranks also wait for each other outside of the reduction of the gradients. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theCommunicationOfBuffersAndOfADividedOptimizerIsNoComputation(boolean divided) throws Exception {
		List<StepTimes> times = Collections.synchronizedList(new ArrayList<>());
		TrainingListener listener = new TrainingListener() {
			@Override
			public void timed(StepTimes step) {
				times.add(step);
			}
		};
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = slow(world.group(rank), divided ? "broadcast" : "allReduce");
				return new TrainingJob(group, divided ? new Line() : new Countdown(),
						options(1, null).withShardedOptimizer(divided), listener)
					.run();
			});
		}
		assertThat(times).isNotEmpty()
			.allSatisfy((step) -> assertThat(step.exposedNanos()).isGreaterThanOrEqualTo(DELAY.toNanos()));
	}

	/** A group in which a call that is not one of the gradients takes longer. */
	private static ProcessGroup slow(ProcessGroup group, String slow) {
		return (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, arguments) -> {
					if (method.getName().equals(slow) && (slow.equals("broadcast") || arguments[1] == DataType.INT64)) {
						new CountDownLatch(1).await(DELAY.toNanos(), TimeUnit.NANOSECONDS);
					}
					try {
						return method.invoke(group, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/** Only a checkpoint cannot hold its complex buffer. */
	@Test
	void aJobWithADividedOptimizerAndNoCheckpointMayHaveComplexBuffers() throws Exception {
		List<TrainingSummary> summaries = train(2, (_) -> new Constants(), options(1, null).withShardedOptimizer(true));
		assertThat(summaries.getFirst().optimizerBytes()).hasSize(2);
	}

	@Test
	void aModelThatACheckpointCannotHoldIsRefusedBeforeTheFirstStep() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> new Constants(), options(1, this.directory),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes).allSatisfy((outcome) -> {
			assertThat(outcome.failure()).hasMessageContaining("model: tensor rotations has element type ComplexFloat");
			assertThat(ExitCode.of(outcome.failure())).isEqualTo(ExitCode.BAD_CONFIGURATION);
		});
	}

	/** Without a gradient, so that the result is the same at any world size. */
	private static final class Constants extends Line {

		@Override
		public Module model() {
			Module model = new Module();
			this.layer = model.register_module("layer", new LinearImpl(1, 1));
			model.register_buffer("mask", torch.ones(3).mul(new Scalar(Double.NEGATIVE_INFINITY)));
			model.register_buffer("rotations", torch.polar(torch.ones(5), torch.arange(new Scalar(5.0))));
			model.register_buffer("table",
					torch.arange(new Scalar(1000.0)).to(torch.ScalarType.Double).add(new Scalar(1.0)).reciprocal());
			return model;
		}

		@Override
		public Optimizer optimizer(TensorVector parameters) {
			return new SGD(parameters, new SGDOptions(0));
		}

	}

	/** The square root has a finite value at zero, and no finite slope. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void noCheckpointIsWrittenAfterAStepWithAFiniteLossAndNoFiniteGradient(int worldSize) throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(worldSize, (_) -> new Line() {
			@Override
			public Tensor losses(Batch batch) {
				Tensor value = this.layer.forward(batch.of(torch.tensor(X)).view(-1, 1));
				return value.sub(value).sqrt().mean(1);
			}

			@Override
			public Tensor scores(Batch batch) {
				return torch.ones(batch.size());
			}
		}, options(1, this.directory), (_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(TrainingDivergedException.class)
				.hasMessageContaining("parameters are not finite after step 1"));
		assertThat(CheckpointFixture.list(this.directory)).isEmpty();
	}

	@Test
	void allSamplesMayBeEvaluatedAtOnce() throws Exception {
		assertThat(train(2, (_) -> new Line() {
			@Override
			public int evaluationBatch() {
				return Integer.MAX_VALUE;
			}
		}, options(1, null))).hasSize(2);
	}

	/** libtorch lists a tied parameter once per name. */
	@Test
	void anOptimizerThatWouldUpdateAParameterTwiceIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Optimizer optimizer(TensorVector parameters) {
				List<Tensor> twice = new ArrayList<>(List.of(parameters.get()));
				twice.add(twice.getFirst());
				return super.optimizer(new TensorVector(twice.toArray(new Tensor[0])));
			}
		}, ExitCode.BAD_CONFIGURATION, "optimizer: it updates a parameter of shape 1x1 twice", "each once");
	}

	@Test
	void anOptimizerOfOtherParametersIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Optimizer optimizer(TensorVector parameters) {
				return super.optimizer(new LinearImpl(3, 2).parameters());
			}
		}, ExitCode.BAD_CONFIGURATION, "optimizer: it updates a parameter of shape 2x3 that the method was not given");
	}

	@Test
	void aCheckpointOfAnotherModelIsRefused() throws Exception {
		train(1, (_) -> new Line(), options(1, this.directory));
		List<Outcome<TrainingSummary>> outcomes = outcomes(1, (_) -> new Line() {
			@Override
			public Module model() {
				return this.layer = new LinearImpl(1, 2);
			}
		}, options(2, this.directory), (_) -> TrainingListener.NONE);
		assertThat(outcomes.getFirst().failure()).isInstanceOf(CheckpointException.class);
	}

	@Test
	void ranksThatBuildDifferentModelsFailTogether() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (rank) -> new Line() {
			@Override
			public Module model() {
				return this.layer = new LinearImpl(1, 1 + rank);
			}
		}, options(1, null), (_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class));
	}

	@Test
	void aReducedLossIsRefusedByItsShape() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor losses(Batch batch) {
				return super.losses(batch).mean();
			}
		}, ExitCode.BAD_CONFIGURATION, "losses: it must return one value for each of the 4 samples", "a single value");
	}

	@Test
	void scoresOfAnotherShapeAreRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor scores(Batch batch) {
				return super.scores(batch).view(-1, 1);
			}
		}, ExitCode.BAD_CONFIGURATION, "scores", "got shape 2x1");
	}

	@Test
	void aBufferThatIsRegisteredInAStepIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor losses(Batch batch) {
				this.layer.register_buffer("late", torch.ones(1));
				return super.losses(batch);
			}
		}, ExitCode.BAD_CONFIGURATION, "losses: it has registered or replaced a buffer of the model", "in model()");
	}

	/** Their sum is larger than any number of 16 bits. */
	@Test
	void lossesOf16BitsAreAddedUpWithMore() throws Exception {
		assertThat(train(1, (_) -> new Line() {
			@Override
			public Tensor losses(Batch batch) {
				return super.losses(batch).add(new Scalar(30_000.0)).to(torch.ScalarType.Half);
			}
		}, options(1, null)).getFirst().testScore()).isGreaterThan(29_000);
	}

	@Test
	void aLossThatIsNotFiniteEndsTheJob() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor losses(Batch batch) {
				return super.losses(batch).div(new Scalar(0.0));
			}
		}, ExitCode.BAD_DATA, "the loss is Infinity at step 1");
	}

	@Test
	void aLearningRateThatIsNotFiniteIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public OptionalDouble learningRate(TrainingStep step) {
				return OptionalDouble.of(Double.NaN);
			}
		}, ExitCode.BAD_CONFIGURATION, "learningRate", "got NaN at step 1");
	}

	@Test
	void anExceptionOfATaskNamesTheTaskAndTheMethod() throws Exception {
		assertFails(new Line() {
			@Override
			public SampleCounts load(long seed, TrainingDevice device) {
				throw new IllegalStateException("the disk is gone");
			}
		}, ExitCode.INTERNAL, "failed in load: IllegalStateException: the disk is gone", "--debug");
	}

	/** The files may be on a slow disk. */
	@Test
	void aRankThatFailsWhileItsCheckpointIsWrittenTellsTheOthersAtOnce() throws Exception {
		try (HeldCheckpoints held = new HeldCheckpoints();
				SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS.withCollective(Duration.ofSeconds(20)))) {
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				TrainingTask task = new Line() {
					@Override
					public OptionalDouble learningRate(TrainingStep step) {
						if (rank == 0 && step.step() == 1) {
							throw new IllegalStateException("the second step");
						}
						return super.learningRate(step);
					}
				};
				try {
					return new TrainingJob(world.group(rank), task, options(2, this.directory), TrainingListener.NONE)
						.run();
				}
				finally {
					if (rank == 1) {
						held.release();
					}
				}
			});
			assertThat(outcomes.get(0).failure()).isInstanceOf(TaskException.class);
			assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("rank 0 cannot continue training: the task")
				.hasMessageContaining("failed in learningRate: IllegalStateException: the second step");
		}
		assertThat(CheckpointFixture.steps(this.directory)).containsExactly(1L);
	}

	/**
	 * The first write is followed by a second, or by the end of the job. It is held until
	 * some time after rank 0 has both begun it and trained its last step.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void aCheckpointMayTakeLongerToWriteThanACollectiveCallMayTake(int epochs) throws Exception {
		try (HeldCheckpoints held = new HeldCheckpoints();
				SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS.withCollective(Duration.ofSeconds(6)))) {
			CompletableFuture<Void> lastStep = new CompletableFuture<>();
			TrainingListener listener = new TrainingListener() {
				@Override
				public void step(long step, double loss) {
					if (step == epochs) {
						lastStep.complete(null);
					}
				}
			};
			held.begun()
				.thenCombine(lastStep, (_, _) -> null)
				.thenRunAsync(held::release, CompletableFuture.delayedExecutor(9, TimeUnit.SECONDS));
			long start = System.nanoTime();
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT,
					(rank) -> new TrainingJob(world.group(rank), new Line(), options(epochs, this.directory),
							(rank == 0) ? listener : TrainingListener.NONE)
						.run());
			assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
			assertThat(outcomes.getFirst().value().checkpointSeconds())
				.as("the wait before the second write or the end, once")
				.isBetween(1.0, (System.nanoTime() - start) / 1e9);
		}
		assertThat(CheckpointFixture.steps(this.directory)).hasSize(epochs);
	}

	/** A task that is cancelled, for example. */
	@Test
	void aJobThatIsInterruptedWhileItsCheckpointIsWrittenLeavesTheDirectoryToTheNextOne() throws Exception {
		try (HeldCheckpoints held = new HeldCheckpoints(); SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			TrainingListener interrupting = new TrainingListener() {
				@Override
				public void step(long step, double loss) {
					if (step == 2) {
						CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(held::release);
						Thread.currentThread().interrupt();
					}
				}
			};
			List<Outcome<Boolean>> interrupted = RankThreads.outcomes(1, LIMIT, (rank) -> {
				assertThatExceptionOfType(CheckpointException.class).isThrownBy(
						new TrainingJob(world.group(rank), new Line(), options(2, this.directory), interrupting)::run)
					.withMessageContaining("interrupted")
					.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
				return Thread.interrupted();
			});
			assertThat(interrupted.getFirst().failure()).isNull();
			assertThat(interrupted.getFirst().value()).as("interrupted").isTrue();
		}
		assertThat(CheckpointFixture.steps(this.directory)).containsExactly(1L);
		train(1, (_) -> new Line(), options(2, this.directory));
	}

	/** As a task in Kotlin may do without declaring it. */
	@Test
	void aCheckedExceptionOfATaskEndsTheJobOnEveryRank() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (rank) -> new Line() {
			@Override
			public Tensor losses(Batch batch) {
				if (rank == 1) {
					TrainingTaskTest.<RuntimeException>throwUnchecked(new IOException("no space left"));
				}
				return super.losses(batch);
			}
		}, options(1, null), (_) -> TrainingListener.NONE);
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure())
			.hasMessageContaining("failed in losses: IOException: no space left"));
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUnchecked(Throwable failure) throws E {
		throw (E) failure;
	}

	@Test
	void aClosedObjectIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor losses(Batch batch) {
				Tensor losses = super.losses(batch);
				losses.close();
				return losses;
			}
		}, ExitCode.BAD_CONFIGURATION, "losses: it returned an object that is closed");
	}

	@Test
	void aModelWithoutAParameterToLearnIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Module model() {
				Module model = super.model();
				try (TensorVector parameters = model.parameters()) {
					Arrays.stream(parameters.get()).forEach((parameter) -> parameter.requires_grad_(false));
				}
				return model;
			}
		}, ExitCode.BAD_CONFIGURATION, "model: it has no parameter that requires a gradient");
	}

	@Test
	void lossesThatDependOnNoParameterAreRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor losses(Batch batch) {
				return super.losses(batch).detach();
			}
		}, ExitCode.BAD_CONFIGURATION, "losses: the losses do not depend on a parameter");
	}

	/** libtorch would drop the imaginary part. */
	@Test
	void complexLossesAreRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Tensor losses(Batch batch) {
				return super.losses(batch).to(torch.ScalarType.ComplexFloat);
			}
		}, ExitCode.BAD_CONFIGURATION, "losses: it must return real values, got ComplexFloat");
	}

	@Test
	void aGuessingLossThatIsNotFiniteIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public OptionalDouble guessingLoss() {
				return OptionalDouble.of(Double.NaN);
			}
		}, ExitCode.BAD_CONFIGURATION, "guessingLoss: the loss must be finite, got NaN");
	}

	@Test
	void aJobRunsOnce() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			TrainingJob job = new TrainingJob(world.group(0), new Line(), options(1, null), TrainingListener.NONE);
			job.run();
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(job::run)
				.withMessageContaining("create another TrainingJob");
		}
	}

	@Test
	void aNullIsRefused() throws Exception {
		assertFails(new Line() {
			@Override
			public Optimizer optimizer(TensorVector parameters) {
				return null;
			}
		}, ExitCode.BAD_CONFIGURATION, "optimizer: it returned null");
	}

	@Test
	void anOptimizerThatAJobCannotRunIsRefusedBeforeTheFirstStep() throws Exception {
		assertFails(new Line() {
			@Override
			public Optimizer optimizer(TensorVector parameters) {
				return new LBFGS(parameters, new LBFGSOptions(0.1));
			}
		}, ExitCode.BAD_CONFIGURATION, "optimizer: LBFGS computes the loss several times per step",
				"Return another optimizer");
	}

	@Test
	void aMissingNativeOrJavaClassIsAFailureOfTheTask() throws Exception {
		assertFails(new Line() {
			@Override
			public Module model() {
				throw new NoClassDefFoundError("com/acme/Layers");
			}
		}, ExitCode.INTERNAL, "failed in model: NoClassDefFoundError: com/acme/Layers");
	}

	@Test
	void aTextThatMayHaveNoEndIsRefused() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> new CharacterTransformer(
					new CharacterTransformer.Options(Path.of("/dev/zero"), 32, 32, 2, 2, 8, 0.004)))
			.withMessage("--text: /dev/zero cannot be read: it is no regular file");
	}

	/** Otherwise a job would continue from a checkpoint of another text. */
	@Test
	void textsWithTheSameHashCodeHaveDifferentIdentities() throws Exception {
		List<Map<String, String>> identities = new ArrayList<>();
		for (String text : List.of("Aa".repeat(100), "BB".repeat(100))) {
			assertThat(text.hashCode()).isEqualTo("Aa".repeat(100).hashCode());
			Path file = Files.writeString(this.directory.resolve("text"), text);
			try (TrainingTask task = new CharacterTransformer(
					new CharacterTransformer.Options(file, 4, 32, 2, 2, 8, 0.004))) {
				task.load(1, TrainingDevice.CPU);
				identities.add(task.identity());
			}
		}
		assertThat(identities.getFirst()).isNotEqualTo(identities.getLast());
	}

	@Test
	void samplesOfATextThatOverlapTooMuchAreRefused() throws Exception {
		Path text = Files.writeString(this.directory.resolve("text"), "abcd".repeat(600_000));
		assertFails(new CharacterTransformer(new CharacterTransformer.Options(text, 1024, 32, 2, 2, 1, 0.004)),
				ExitCode.BAD_DATA, "--stride");
	}

	@Test
	void aStopEndsTheEvaluationThatRuns() throws Exception {
		AtomicReference<TrainingJob> job = new AtomicReference<>();
		AtomicInteger evaluated = new AtomicInteger();
		TrainingTask asking = new Line() {
			@Override
			public int evaluationBatch() {
				return 1;
			}

			@Override
			public Tensor scores(Batch batch) {
				evaluated.incrementAndGet();
				job.get().requestStop("test");
				return super.scores(batch);
			}
		};
		Path report = this.directory.resolve("report.json");
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			job.set(new TrainingJob(world.group(0), asking, new TrainingOptions(3, 8, 1, 1, null, report),
					TrainingListener.NONE));
			TrainingSummary summary = job.get().run();
			assertThat(summary.stopped()).isTrue();
			assertThat(summary.steps()).isEqualTo(1);
			assertThat(summary.testScore()).isNaN();
		}
		assertThat(evaluated).hasValue(1);
		assertThat(Files.readString(report)).contains("parameterSha256").doesNotContain("testAccuracy");
	}

	@Test
	void aListenerThatChangesItsSamplesDoesNotChangeTheStep() throws Exception {
		TrainingListener changing = new TrainingListener() {
			@Override
			public void selected(StepSamples step) {
				Arrays.fill(step.samples(), 0);
			}
		};
		assertThat(hash(train(1, (_) -> new Line(), options(1, null), (_) -> changing)))
			.isEqualTo(hash(train(1, (_) -> new Line(), options(1, null))));
	}

	@Test
	void theReportNamesItsMetric() throws Exception {
		Path report = this.directory.resolve("report.json");
		train(1, (_) -> new Line() {
			@Override
			public TestMetric metric() {
				return new TestMetric("absolute error", false);
			}
		}, new TrainingOptions(1, 8, 1, 1, null, report));
		assertThat(Files.readString(report)).contains("\"testAbsoluteError\"").doesNotContain("testAccuracy");
	}

	private static void assertFails(TrainingTask task, int exitCode, String... words) throws Exception {
		Throwable failure = outcomes(1, (_) -> task, options(1, null), (_) -> TrainingListener.NONE).getFirst()
			.failure();
		assertThat(failure).as("%s", failure).isNotNull();
		assertThat(failure.getMessage()).contains(words);
		assertThat(ExitCode.of(failure)).isEqualTo(exitCode);
		assertThat(failure.getSuppressed()).as("failures of closing").isEmpty();
	}

	private static TrainingTask convolution() {
		return new DigitsConvolution(new DigitsConvolution.Options(8, 0.004));
	}

	private static TrainingTask transformer() {
		return new CharacterTransformer(new CharacterTransformer.Options(null, 32, 32, 2, 2, 8, 0.004));
	}

	private static TrainingOptions options(int epochs, Path checkpoints) {
		return new TrainingOptions(epochs, 32, 1, 1, (checkpoints != null) ? CheckpointOptions.of(checkpoints) : null,
				null);
	}

	private static List<TrainingSummary> train(int worldSize, IntFunction<TrainingTask> task, TrainingOptions options)
			throws Exception {
		return train(worldSize, task, options, (_) -> TrainingListener.NONE);
	}

	private static List<TrainingSummary> train(int worldSize, IntFunction<TrainingTask> task, TrainingOptions options,
			Function<AtomicReference<TrainingJob>, TrainingListener> listener) throws Exception {
		List<TrainingSummary> summaries = new ArrayList<>();
		for (Outcome<TrainingSummary> outcome : outcomes(worldSize, task, options, listener)) {
			assertThat(outcome.failure()).isNull();
			summaries.add(outcome.value());
		}
		return summaries;
	}

	private static List<Outcome<TrainingSummary>> outcomes(int worldSize, IntFunction<TrainingTask> task,
			TrainingOptions options, Function<AtomicReference<TrainingJob>, TrainingListener> listener)
			throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(worldSize, TIMEOUTS)) {
			return RankThreads.outcomes(worldSize, LIMIT, (rank) -> {
				AtomicReference<TrainingJob> job = new AtomicReference<>();
				job.set(new TrainingJob(world.group(rank), task.apply(rank), options, listener.apply(job)));
				return job.get().run();
			});
		}
	}

	private static Function<AtomicReference<TrainingJob>, TrainingListener> stopAfter(long stop) {
		return (job) -> new TrainingListener() {
			@Override
			public void step(long step, double loss) {
				if (step == stop) {
					job.get().requestStop("test");
				}
			}
		};
	}

	private static String hash(List<TrainingSummary> summaries) {
		return summaries.getFirst().parameterSha256().getFirst();
	}

	/** Learns y = 2x from four samples. */
	private static class Line implements TrainingTask {

		static final float[] X = { 1, 2, 3, 4 };

		LinearImpl layer;

		@Override
		public SampleCounts load(long seed, TrainingDevice device) {
			return new SampleCounts(4, 2);
		}

		@Override
		public Module model() {
			return this.layer = new LinearImpl(1, 1);
		}

		@Override
		public Optimizer optimizer(TensorVector parameters) {
			return new SGD(parameters, new SGDOptions(0.01));
		}

		@Override
		public Tensor losses(Batch batch) {
			Tensor x = batch.of(torch.tensor(X)).view(-1, 1);
			Tensor difference = this.layer.forward(x).sub(x.mul(new Scalar(2.0)));
			return difference.mul(difference).mean(1);
		}

		@Override
		public Tensor scores(Batch batch) {
			return losses(batch);
		}

	}

}
