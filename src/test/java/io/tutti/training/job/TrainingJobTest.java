package io.tutti.training.job;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.checkpoint.CheckpointException;
import io.tutti.training.checkpoint.CheckpointFixture;
import io.tutti.training.checkpoint.SavedCheckpoint;
import io.tutti.training.table.MalformedDataException;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.FileSystemUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(400)
@SharesLibtorch
class TrainingJobTest {

	private static final Duration LIMIT = Duration.ofSeconds(180);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));

	/** The sum of the ranks' test results after each epoch. */
	private static final int EVALUATION_CALLS = 1;

	private static final ClassifierJob DEFAULTS = ClassifierJob.defaults();

	/** Long enough to learn, and for differences to grow. */
	private static final ClassifierJob WHOLE = withEpochs(10);

	/** Whole trainings by world size, which several tests compare. */
	private static final Map<Integer, Trained> TRAINED = new TreeMap<>();

	private record Trained(List<TrainingSummary> summaries, float[] parameters) {
	}

	@TempDir
	private Path directory;

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4 })
	void theDigitsAreLearntTo96PercentAndEveryRankHoldsTheSameModel(int worldSize) throws Exception {
		List<TrainingSummary> summaries = trained(worldSize).summaries();
		TrainingSummary first = summaries.getFirst();
		assertThat(first.testScore()).isGreaterThanOrEqualTo(0.96);
		assertThat(first.worldSize()).isEqualTo(worldSize);
		assertThat(first.backend()).isNotBlank();
		assertThat(first.epochs()).isEqualTo(WHOLE.epochs());
		assertThat(first.steps()).isEqualTo(10 * 45);
		assertThat(first.allReducedBytes()).isGreaterThan(first.steps() * 9610 * Float.BYTES);
		assertThat(first.samplesPerSecond()).isPositive();
		assertThat(first.communicationShare()).isBetween(0.0, 1.0);
		assertThat(first.stopped()).isFalse();
		assertThat(first.parameterSha256()).hasSize(worldSize).allMatch(first.parameterSha256().getFirst()::equals);
		assertThat(summaries).allSatisfy((other) -> {
			assertThat(other.testScore()).isEqualTo(first.testScore());
			assertThat(other.parameterSha256()).isEqualTo(first.parameterSha256());
		});
	}

	@Test
	void twoRunsWithTheSameWorldSizeAreBitIdentical() throws Exception {
		assertThat(hash(train(3, (_) -> WHOLE))).isEqualTo(hash(trained(3).summaries()));
		ClassifierJob shorter = withEpochs(1);
		assertThat(hash(train(3, (_) -> withSeed(shorter, 43)))).isNotEqualTo(hash(train(3, (_) -> shorter)));
	}

	/** A job that is not elastic pays for nothing but the reduction of its gradients. */
	@Test
	void aStepOfAnOrdinaryJobIsOneCollectiveCallForEachBucket() throws Exception {
		long[] calls = new long[2];
		for (int epochs = 1; epochs <= 2; epochs++) {
			try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
				ClassifierJob options = withEpochs(epochs);
				RankThreads.run(2, LIMIT, (rank) -> new TrainingJob(world.group(rank), options.task(),
						options.options(), TrainingListener.NONE)
					.run());
				calls[epochs - 1] = world.group(0).lastEntered();
			}
		}
		long perEpoch = calls[1] - calls[0];
		assertThat(perEpoch).isEqualTo(45 + EVALUATION_CALLS);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 4, 5 })
	void parametersAgreeBetweenWorldSizes(int worldSize) throws Exception {
		float[] alone = trained(1).parameters();
		assertThat(relativeDistance(trained(worldSize).parameters(), alone)).isLessThanOrEqualTo(1e-3);
	}

	private Trained trained(int worldSize) throws Exception {
		Trained before = TRAINED.get(worldSize);
		if (before != null) {
			return before;
		}
		ClassifierJob options = withCheckpoint(WHOLE, 0);
		Trained trained = new Trained(train(worldSize, (_) -> options), keptParameters());
		deleteCheckpoints();
		TRAINED.put(worldSize, trained);
		return trained;
	}

	@Test
	void emptySharesAreExact() throws Exception {
		ClassifierJob options = new ClassifierJob(2, 3, 0.01, 7, 1, null, this.directory, 0, null);
		train(1, (_) -> options);
		float[] alone = keptParameters();
		deleteCheckpoints();
		train(5, (_) -> options);
		assertThat(relativeDistance(keptParameters(), alone)).isLessThanOrEqualTo(1e-3);
	}

	@ParameterizedTest
	@CsvSource({ "1,2", "100,101", "224,225", "225,225", "449,450" })
	void aStoppedAndContinuedJobIsBitIdenticalToAnUninterruptedOne(long stopStep, long lastStep) throws Exception {
		String undisturbed = hash(trained(2).summaries());
		ClassifierJob kept = withCheckpoint(WHOLE, 0);
		List<TrainingSummary> stopped = train(2, (_) -> kept, stopAt(stopStep, 1));
		assertThat(stopped).allSatisfy((summary) -> {
			assertThat(summary.stopped()).isTrue();
			assertThat(summary.steps()).isEqualTo(lastStep);
			assertThat(summary.testScore()).isNaN();
		});
		List<TrainingSummary> continued = train(2, (_) -> kept);
		assertThat(continued.getFirst().stopped()).isFalse();
		assertThat(continued.getFirst().steps()).isEqualTo(450);
		assertThat(continued.getFirst().testScore()).isBetween(0.9, 1.0);
		assertThat(hash(continued)).isEqualTo(undisturbed);
	}

	@Test
	void aCompletedJobStartedAgainOnlyReportsItsResult() throws Exception {
		ClassifierJob options = withCheckpoint(new ClassifierJob(3, 32, 0.05, 42, 1, null, null, 0, null), 0);
		TrainingSummary first = train(2, (_) -> options).getFirst();
		TrainingSummary again = train(1, (_) -> options).getFirst();
		assertThat(again.parameterSha256().getFirst()).isEqualTo(first.parameterSha256().getFirst());
		assertThat(again.testScore()).isEqualTo(first.testScore());
		assertThat(again.samplesPerSecond()).isZero();
	}

	@Test
	void moreEpochsContinueACompletedJob() throws Exception {
		ClassifierJob longer = new ClassifierJob(4, 32, 0.05, 42, 1, null, null, 0, null);
		String undisturbed = hash(train(1, (_) -> longer));
		train(1, (_) -> withCheckpoint(new ClassifierJob(2, 32, 0.05, 42, 1, null, null, 0, null), 0));
		assertThat(hash(train(1, (_) -> withCheckpoint(longer, 0)))).isEqualTo(undisturbed);
	}

	/** Its parameters would be those of more epochs than the job has. */
	@Test
	void fewerEpochsThanTheCheckpointHoldsAreRefusedOnEveryRank() throws Exception {
		ClassifierJob longer = new ClassifierJob(3, 32, 0.05, 42, 1, null, null, 0, null);
		train(1, (_) -> withCheckpoint(longer, 0));
		List<Outcome<TrainingSummary>> outcomes = outcomes(2,
				(_) -> withCheckpoint(new ClassifierJob(1, 32, 0.05, 42, 1, null, null, 0, null), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes).allSatisfy((outcome) -> {
			assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("is of step 135, but with --epochs 1 the job ends after step 45")
				.hasMessageContaining("give --epochs 3 or more, or another directory");
			assertThat(ExitCode.of(outcome.failure())).isEqualTo(ExitCode.BAD_CONFIGURATION);
		});
	}

	@Test
	void checkpointsAreWrittenAtTheConfiguredStepInterval() throws Exception {
		List<Long> steps = Collections.synchronizedList(new ArrayList<>());
		ClassifierJob options = withCheckpoint(new ClassifierJob(2, 64, 0.05, 42, 1, null, null, 0, null), 10);
		train(2, (_) -> options, (job) -> new TrainingListener() {
			@Override
			public void checkpointed(SavedCheckpoint saved) {
				steps.add(saved.step());
				assertThat(saved.directory()).isDirectory();
				assertThat(saved.bytes()).isGreaterThan(2 * 9610 * Float.BYTES);
			}
		});
		assertThat(steps).containsExactly(10L, 20L, 30L, 40L, 46L);
	}

	@Test
	void theListenerReceivesAllEvents() throws Exception {
		List<String> heard = new ArrayList<>();
		train(1, (_) -> withEpochs(2), (_) -> new TrainingListener() {
			@Override
			public void started(TrainingPlan plan) {
				heard.add("started " + plan.trainingSamples() + "+" + plan.testSamples() + " " + plan.parameters() + " "
						+ plan.totalSteps());
			}

			@Override
			public void epochDone(EpochResult result) {
				heard.add("epoch " + result.epoch() + "/" + result.epochs());
				assertThat(result.loss()).isBetween(0.01, 2.3);
				assertThat(result.testScore()).isBetween(0.8, 1.0);
			}

			@Override
			public void finished(TrainingSummary summary) {
				heard.add("finished");
			}
		});
		assertThat(heard).containsExactly("started 1437+360 9610 90", "epoch 1/2", "epoch 2/2", "finished");
	}

	@Test
	void stepsLeakNoNativeObjects() throws Exception {
		List<Long> objects = new ArrayList<>();
		train(1, (_) -> withEpochs(3), (_) -> new TrainingListener() {
			@Override
			public void epochDone(EpochResult result) {
				objects.add(Pointer.totalCount());
			}
		});
		assertThat(objects.getLast()).isLessThanOrEqualTo(objects.getFirst());
	}

	@Test
	void theReportHasExactlyTheSpecifiedFields() throws Exception {
		Path report = this.directory.resolve("report.json");
		ClassifierJob options = new ClassifierJob(1, 32, 0.05, 42, 1, null, null, 0, report);
		TrainingSummary summary = train(2, (_) -> options).getFirst();
		assertThat(Files.readString(report)).endsWith("}\n");
		JsonNode json = JsonMapper.shared().readTree(Files.readString(report));
		assertThat(json.propertyNames()).containsExactly("worldSize", "backend", "epochs", "testAccuracy",
				"samplesPerSecond", "allReducedBytes", "communicationSeconds", "checkpointSeconds", "parameterSha256");
		assertThat(json.get("worldSize").intValue()).isEqualTo(2);
		assertThat(json.get("checkpointSeconds").doubleValue()).isZero();
		assertThat(json.get("testAccuracy").doubleValue()).isEqualTo(summary.testScore());
		assertThat(json.get("parameterSha256").get(1).stringValue()).isEqualTo(summary.parameterSha256().get(1));
	}

	@Test
	void aMissingReportDirectoryFailsBeforeTheTraining() throws Exception {
		Path report = this.directory.resolve("missing/report.json");
		List<Outcome<TrainingSummary>> outcomes = outcomes(2,
				(_) -> new ClassifierJob(1, 32, 0.05, 42, 1, null, null, 0, report), (_) -> TrainingListener.NONE);
		assertThat(outcomes.get(0).failure()).isInstanceOf(ReportException.class).hasMessageContaining("missing");
		assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class)
			.extracting(ExitCode::of)
			.isEqualTo(ExitCode.ABORTED);
	}

	@Test
	void aReportThatIsALinkIntoAMissingDirectoryFailsBeforeTheTraining() throws Exception {
		Path report = Files.createSymbolicLink(this.directory.resolve("link.json"),
				this.directory.resolve("missing/report.json"));
		List<Outcome<TrainingSummary>> outcomes = outcomes(1,
				(_) -> new ClassifierJob(1, 32, 0.05, 42, 1, null, null, 0, report), (_) -> TrainingListener.NONE);
		assertThat(outcomes.getFirst().failure()).isInstanceOfSatisfying(ReportException.class, (ex) -> {
			assertThat(ex)
				.hasMessage("cannot write the report " + report + ": there is no directory "
						+ this.directory.resolve("missing"))
				.returns(ExitCode.BAD_CONFIGURATION, ExitCode::of);
			assertThat(ex.summary()).isNull();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "/", "" })
	void aReportThatIsADirectoryFailsBeforeTheTraining(String file) throws Exception {
		Path report = file.isEmpty() ? this.directory : Path.of(file);
		AtomicBoolean trains = new AtomicBoolean();
		List<Outcome<TrainingSummary>> outcomes = outcomes(1,
				(_) -> new ClassifierJob(1, 32, 0.05, 42, 1, null, null, 0, report), (_) -> new TrainingListener() {
					@Override
					public void started(TrainingPlan plan) {
						trains.set(true);
					}
				});
		assertThat(outcomes.getFirst().failure()).isInstanceOf(ReportException.class)
			.hasMessage("cannot write the report " + report + ": it is a directory; give the name of a file in it")
			.returns(ExitCode.BAD_CONFIGURATION, ExitCode::of);
		assertThat(trains).isFalse();
	}

	@Test
	void aFailureWithoutAMessageIsReportedToTheOthersByItsKind() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withEpochs(1), (handle) -> new TrainingListener() {
			@Override
			public void started(TrainingPlan plan) {
				if (handle.rank() == 0) {
					throw new NoSuchElementException();
				}
			}
		});
		assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("rank 0 cannot continue training: java.util.NoSuchElementException");
	}

	/** The file of a full disk. */
	@Test
	void aReportThatCannotBeWrittenLeavesTheSummary() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(1,
				(_) -> new ClassifierJob(1, 32, 0.05, 42, 1, null, null, 0, Path.of("/dev/full")),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes.get(0).failure()).isInstanceOfSatisfying(ReportException.class, (ex) -> {
			assertThat(ex).hasMessageContainingAll("/dev/full", "--report").returns(ExitCode.INTERNAL, ExitCode::of);
			assertThat(ex.summary()).isNotNull().returns(1, TrainingSummary::worldSize);
		});
	}

	@Test
	void aUsersTableIsLearnt() throws Exception {
		StringBuilder table = new StringBuilder("left,right,side\n");
		for (int row = 0; row < 100; row++) {
			table.append(row % 10)
				.append(',')
				.append(9 - row % 7)
				.append(',')
				.append((row % 10 > 4) ? 1 : 0)
				.append('\n');
		}
		Path file = Files.writeString(this.directory.resolve("own.csv"), table);
		TrainingSummary summary = train(2, (_) -> new ClassifierJob(30, 16, 0.05, 42, 1, file, null, 0, null))
			.getFirst();
		assertThat(summary.testScore()).isGreaterThanOrEqualTo(0.9);
	}

	@Test
	void aReadErrorOfOneRankIsReportedToTheOthers() throws Exception {
		Path broken = Files.writeString(this.directory.resolve("broken.csv"), "1,2,0\n".repeat(200_000) + "1,x,1\n");
		List<Outcome<TrainingSummary>> outcomes = outcomes(2,
				(rank) -> new ClassifierJob(1, 32, 0.05, 42, 1, (rank == 1) ? broken : null, null, 0, null),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes.get(1).failure()).isInstanceOf(MalformedDataException.class)
			.hasMessageContaining("line 200001, column 2");
		assertThat(outcomes.get(0).failure()).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("line 200001, column 2");
	}

	@Test
	void ranksWithDifferentJobsFailWithTheDifference() throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(3, (rank) -> withSeed(DEFAULTS, (rank == 2) ? 5 : 42),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
				.hasMessageContaining("rank 2 has seed 5, but rank 0 has seed 42"));
	}

	/** Before a checkpoint, the ranks look together for values that are not finite. */
	@Test
	void ranksWithDifferentCheckpointIntervalsFailBeforeTheFirstStep() throws Exception {
		ClassifierJob job = withEpochs(1);
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (rank) -> withCheckpoint(job, (rank == 0) ? 10 : 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
				.hasMessageContaining("rank 1 has checkpoint every epoch, but rank 0 has checkpoint every 10 steps"));
	}

	/**
	 * Divergence in a step, in an epoch and at the end, by learning rates from too large
	 * to absurd.
	 */
	@ParameterizedTest
	@CsvSource({ "1, 1, 32, 1e30", "2, 5, 32, 1e30", "3, 5, 32, 1", "2, 1, 32, 1", "2, 1, 1, 0.05", "3, 1, 1, 1" })
	void aTrainingThatDivergesEndsOnEveryRank(int worldSize, int epochs, int globalBatch, double learningRate)
			throws Exception {
		List<Outcome<TrainingSummary>> outcomes = outcomes(worldSize,
				(_) -> new ClassifierJob(epochs, globalBatch, learningRate, 42, 1, null, null, 0, null),
				(_) -> TrainingListener.NONE);
		String message = outcomes.getFirst().failure().getMessage();
		assertThat(message).contains("--learning-rate below " + learningRate);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(TrainingDivergedException.class)
				.hasMessage(message));
	}

	@Test
	void noCheckpointOfADivergedModelIsWritten() throws Exception {
		ClassifierJob options = withCheckpoint(new ClassifierJob(1, 32, 1, 42, 1, null, null, 0, null), 0);
		assertThat(outcomes(2, (_) -> options, (_) -> TrainingListener.NONE))
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(TrainingDivergedException.class));
		assertThat(CheckpointFixture.list(this.directory)).isEmpty();
	}

	/**
	 * Columns that are constant, almost constant, huge, tiny, heavy-tailed or full of
	 * outliers.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3 })
	void unusualColumnsDoNotPreventLearning(int worldSize) throws Exception {
		Random random = new Random(11);
		StringBuilder table = new StringBuilder();
		for (int row = 0; row < 400; row++) {
			int label = random.nextInt(3);
			table.append(label + 0.3 * random.nextGaussian())
				.append(",7,")
				.append((row == 150 || row == 151) ? "255," : "0,")
				.append(1e36 * (label + random.nextGaussian()))
				.append(',')
				.append(1e-36 * (label + random.nextGaussian()))
				.append(',')
				.append(Math.pow(Math.tan(Math.PI * (random.nextDouble() - 0.5)), 3))
				.append(',')
				.append((random.nextInt(20) == 0) ? 1e30 : label + random.nextGaussian())
				.append(',')
				.append(label)
				.append('\n');
		}
		Path file = Files.writeString(this.directory.resolve("kinds.csv"), table);
		TrainingSummary summary = train(worldSize, (_) -> new ClassifierJob(30, 32, 0.05, 42, 1, file, null, 0, null))
			.getFirst();
		assertThat(summary.testScore()).isGreaterThanOrEqualTo(0.9);
	}

	@Test
	void aCheckpointOfAnotherRecipeIsRejected() throws Exception {
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
		Path manifest = checkpoint().resolve(CheckpointFixture.MANIFEST);
		replace(manifest, Files.readString(manifest).replace("\"recipe\"", "\"other\"").getBytes());
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withCheckpoint(withEpochs(2), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("it has no recipe, this job has recipe 2"));
	}

	@Test
	void aCheckpointOfAnotherJobIsRejectedOnEveryRankAndStaysUnchanged() throws Exception {
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
		Map<String, String> before = content();
		List<Outcome<TrainingSummary>> outcomes = outcomes(2,
				(_) -> withCheckpoint(new ClassifierJob(1, 64, 0.05, 42, 1, null, null, 0, null), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("it has global batch 32, this job has global batch 64")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.BAD_CONFIGURATION));
		assertThat(content()).isEqualTo(before);
	}

	@Test
	void aDamagedCheckpointIsRejectedOnEveryRankAndStaysUnchanged() throws Exception {
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
		Path model = checkpoint().resolve("model-00001-of-00001.safetensors");
		byte[] damaged = Files.readAllBytes(model);
		damaged[damaged.length / 2] ^= 1;
		Files.write(model, damaged);
		Map<String, String> before = content();
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withCheckpoint(withEpochs(1), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("damaged")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.BAD_CONFIGURATION));
		assertThat(content()).isEqualTo(before);
	}

	@Test
	void onlyTheConfiguredNumberOfCheckpointsIsKept() throws Exception {
		train(2, (_) -> new ClassifierJob(4, 32, 0.05, 42, 1, null, this.directory, 0, null, 3));
		assertThat(CheckpointFixture.steps(this.directory)).containsExactly(180L, 135L, 90L);
		train(1, (_) -> new ClassifierJob(5, 32, 0.05, 42, 1, null, this.directory, 0, null, 1));
		assertThat(CheckpointFixture.steps(this.directory)).containsExactly(225L);
	}

	@Test
	void anOlderCheckpointIsContinuedOnceTheDamagedOneIsGone() throws Exception {
		String undisturbed = hash(train(1, (_) -> withEpochs(3)));
		train(1, (_) -> withCheckpoint(withEpochs(3), 0));
		FileSystemUtils.deleteRecursively(checkpoint());
		assertThat(checkpoint()).hasFileName("step-00000090");
		assertThat(hash(train(1, (_) -> withCheckpoint(withEpochs(3), 0)))).isEqualTo(undisturbed);
	}

	@Test
	void aSecondJobInTheDirectoryIsRejectedOnEveryRankWithTheFirstJobsProcess() throws Exception {
		try (Closeable _ = CheckpointFixture.lock(this.directory)) {
			List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withCheckpoint(withEpochs(1), 0),
					(_) -> TrainingListener.NONE);
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
					.hasMessageContaining("is in use by another job: process " + ProcessHandle.current().pid() + " on ")
					.hasMessageContaining("Give each job its own directory"));
		}
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
	}

	@Test
	void aCheckpointOfAnotherOptimizerIsRejected() throws Exception {
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
		Path manifest = checkpoint().resolve(CheckpointFixture.MANIFEST);
		replace(manifest, Files.readString(manifest).replace("\"SGD\"", "\"Adam\"").getBytes());
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withCheckpoint(withEpochs(2), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("it has the optimizer Adam, this job has SGD"));
	}

	/** Otherwise the job would start again from the beginning. */
	@Test
	void aCheckpointWithoutItsProgressIsRejected() throws Exception {
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
		Path manifest = checkpoint().resolve(CheckpointFixture.MANIFEST);
		replace(manifest,
				Files.readString(manifest).replaceAll("\"progress\" : \\{[^}]*}", "\"progress\" : null").getBytes());
		List<Outcome<TrainingSummary>> outcomes = outcomes(1, (_) -> withCheckpoint(withEpochs(2), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes.getFirst().failure()).isInstanceOf(CheckpointException.class)
			.hasMessageContainingAll("its checkpoint.json: ", "progress");
	}

	@Test
	void aCheckpointDirectoryThatCannotExistIsRejectedOnEveryRankWithTheReason() throws Exception {
		Path file = Files.createFile(this.directory.resolve("file"));
		List<Outcome<TrainingSummary>> outcomes = outcomes(2,
				(_) -> new ClassifierJob(1, 32, 0.05, 42, 1, null, file.resolve("run/1"), 0, null),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessage("the checkpoint directory " + file.resolve("run/1") + " cannot be used: " + file
						+ " is not a directory. Give a directory that exists or can be created")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.BAD_CONFIGURATION));
	}

	/** As one on a disk that is full or that fails may be. */
	@Test
	void aCheckpointDirectoryThatCannotBeUsedForNowIsReportedOnEveryRankForARestart() throws Exception {
		Files.createDirectory(this.directory.resolve(".lock"));
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withCheckpoint(withEpochs(1), 0),
				(_) -> TrainingListener.NONE);
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("cannot be used: ")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.INTERNAL));
	}

	@Test
	void aFailedCheckpointWriteKeepsThePreviousOneAndAbortsTheGroup() throws Exception {
		train(1, (_) -> withCheckpoint(withEpochs(1), 0));
		Map<String, String> before = content();
		List<Outcome<TrainingSummary>> outcomes = outcomes(2, (_) -> withCheckpoint(withEpochs(2), 0),
				(handle) -> (handle.rank() == 0) ? obstruct("step-00000090.0.tmp") : TrainingListener.NONE);
		assertThat(outcomes.get(0).failure()).isInstanceOf(CheckpointException.class)
			.hasMessageContaining("the previous checkpoint is unchanged")
			.extracting(ExitCode::of)
			.isEqualTo(ExitCode.INTERNAL);
		assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("cannot write checkpoint")
			.extracting(ExitCode::of)
			.isEqualTo(ExitCode.PEER_LOST);
		assertThat(content()).isEqualTo(before);
	}

	private List<TrainingSummary> train(int worldSize, IntFunction<ClassifierJob> options) throws Exception {
		return train(worldSize, options, (_) -> TrainingListener.NONE);
	}

	private List<TrainingSummary> train(int worldSize, IntFunction<ClassifierJob> options,
			Function<JobHandle, TrainingListener> listener) throws Exception {
		List<TrainingSummary> summaries = new ArrayList<>();
		for (Outcome<TrainingSummary> outcome : outcomes(worldSize, options, listener)) {
			assertThat(outcome.failure()).isNull();
			summaries.add(outcome.value());
		}
		return summaries;
	}

	private List<Outcome<TrainingSummary>> outcomes(int worldSize, IntFunction<ClassifierJob> options,
			Function<JobHandle, TrainingListener> listener) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(worldSize, TIMEOUTS)) {
			return RankThreads.outcomes(worldSize, LIMIT, (rank) -> {
				JobHandle handle = new JobHandle(rank, new AtomicReference<>());
				TrainingJob job = new TrainingJob(world.group(rank), options.apply(rank).task(),
						options.apply(rank).options(), listener.apply(handle));
				handle.job().set(job);
				return job.run();
			});
		}
	}

	/** Gives a listener access to its job. */
	private record JobHandle(int rank, AtomicReference<TrainingJob> job) {
	}

	/**
	 * One rank requests a stop after a step; all ranks stop after the next one, or before
	 * the evaluation at the end of an epoch.
	 */
	private static Function<JobHandle, TrainingListener> stopAt(long stopStep, int rank) {
		return (handle) -> new TrainingListener() {
			@Override
			public void step(long step, double loss) {
				if (step == stopStep && handle.rank() == rank) {
					handle.job().get().requestStop("test");
				}
			}
		};
	}

	/** Creates a directory where the next checkpoint is to be written. */
	private TrainingListener obstruct(String name) {
		return new TrainingListener() {
			@Override
			public void started(TrainingPlan plan) {
				assertThat(TrainingJobTest.this.directory.resolve(name).toFile().mkdir()).isTrue();
			}
		};
	}

	private Path checkpoint() throws IOException {
		return CheckpointFixture.list(this.directory).getFirst();
	}

	private void deleteCheckpoints() throws IOException {
		for (Path checkpoint : CheckpointFixture.list(this.directory)) {
			FileSystemUtils.deleteRecursively(checkpoint);
		}
	}

	/** The hashes of all files in the checkpoint directory. */
	private Map<String, String> content() throws IOException {
		Map<String, String> content = new TreeMap<>();
		try (Stream<Path> files = Files.walk(this.directory)) {
			for (Path file : files.filter(Files::isRegularFile).filter((file) -> !file.endsWith(".lock")).toList()) {
				content.put(this.directory.relativize(file).toString(), sha256(Files.readAllBytes(file)));
			}
		}
		return content;
	}

	/** Replaces a file of the newest checkpoint and its hash. */
	private void replace(Path file, byte[] content) throws IOException {
		Path sums = checkpoint().resolve(CheckpointFixture.SUMS);
		Files.writeString(sums, Files.readString(sums).replace(sha256(Files.readAllBytes(file)), sha256(content)));
		Files.write(file, content);
	}

	private static String sha256(byte[] content) {
		MessageDigest digest = Sha256.newDigest();
		digest.update(content);
		return Sha256.hex(digest);
	}

	private float[] keptParameters() throws IOException {
		float[] all = new float[9610];
		int filled = 0;
		for (float[] values : CheckpointFixture.values(checkpoint())) {
			System.arraycopy(values, 0, all, filled, values.length);
			filled += values.length;
		}
		assertThat(filled).isEqualTo(all.length);
		return all;
	}

	private static double relativeDistance(float[] left, float[] right) {
		double difference = 0;
		double norm = 0;
		for (int index = 0; index < right.length; index++) {
			difference += Math.pow(left[index] - right[index], 2);
			norm += Math.pow(right[index], 2);
		}
		assertThat(norm).isPositive();
		return Math.sqrt(difference / norm);
	}

	private static String hash(List<TrainingSummary> summaries) {
		return summaries.getFirst().parameterSha256().getFirst();
	}

	private static ClassifierJob withEpochs(int epochs) {
		return new ClassifierJob(epochs, 32, 0.05, 42, 1, null, null, 0, null);
	}

	private static ClassifierJob withSeed(ClassifierJob options, long seed) {
		return new ClassifierJob(options.epochs(), options.globalBatch(), options.learningRate(), seed,
				options.threads(), null, null, 0, null);
	}

	private ClassifierJob withCheckpoint(ClassifierJob options, int every) {
		return new ClassifierJob(options.epochs(), options.globalBatch(), options.learningRate(), options.seed(),
				options.threads(), options.data(), this.directory, every, null);
	}

}
