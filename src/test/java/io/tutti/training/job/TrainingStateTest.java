package io.tutti.training.job;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.SampleCounts;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingTask;
import io.tutti.training.checkpoint.CheckpointFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lost rank may have ended the last collective call on some of the others only: their
 * records of the job differ, though their models do not.
 */
@Timeout(60)
@SharesLibtorch
class TrainingStateTest {

	private static final int STEPS = 45;

	/** What one rank has reported, and the records and hashes of its state. */
	private record Seen(List<String> events, JobRecord entered, JobRecord resumed, byte[] before, byte[] after) {
	}

	/** A false warning of differing states would point to faulty memory. */
	@Test
	void theEndOfAnEpochThatOnlyOneRankHasCompletedIsRepeatedAndReportedOnceByEach() throws Exception {
		List<Seen> seen = resume((rank, state) -> {
			if (rank == 0) {
				state.become(state.current().withLossBefore(2.5));
				assertThat(state.endEpoch()).isTrue();
			}
		});
		assertThat(seen.get(0).before()).isEqualTo(seen.get(1).before());
		assertThat(seen.get(0).events()).isEmpty();
		assertThat(seen.get(1).events()).containsExactly("epoch 1");
		assertThat(seen).allSatisfy((rank) -> {
			assertThat(rank.entered().epochEnded()).isFalse();
			assertThat(rank.entered().job().lossBefore()).isEqualTo(2.5);
			assertThat(rank.resumed().epochEnded()).isTrue();
			assertThat(rank.resumed()).isEqualTo(seen.getFirst().resumed());
			assertThat(rank.after()).isEqualTo(seen.getFirst().before());
		});
	}

	@Test
	void anEpochThatAllRanksHaveEndedIsNotEndedAgain() throws Exception {
		List<Seen> seen = resume((rank, state) -> assertThat(state.endEpoch()).isTrue());
		assertThat(seen).allSatisfy((rank) -> {
			assertThat(rank.events()).isEmpty();
			assertThat(rank.resumed().epochEnded()).isTrue();
		});
	}

	@Test
	void aStopOnWhichOnlyOneRankKnowsThatAllAgreedStopsAll() throws Exception {
		List<Seen> seen = resume((rank, state) -> {
			if (rank == 1) {
				assertThat(state.endEpoch()).isTrue();
				assertThat(state.stop()).isTrue();
			}
		});
		assertThat(seen.get(0).events()).containsExactly("epoch 1", "stopping after 45");
		assertThat(seen.get(1).events()).isEmpty();
		assertThat(seen).allSatisfy((rank) -> assertThat(rank.resumed().job().stopped()).isTrue());
	}

	/** The number of steps begun again is that of all ranks, each counted once. */
	@Test
	void aRankThatHasEnteredTheGenerationAloneAgreesWithTheOthers() throws Exception {
		List<Seen> seen = resume((rank, state) -> {
			state.begin(STEPS + 1);
			if (rank == 0) {
				try (SimulatedWorld alone = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
					state.enter(alone.group(0));
				}
			}
		});
		assertThat(seen).allSatisfy((rank) -> {
			assertThat(rank.entered()).isEqualTo(seen.getFirst().entered());
			assertThat(rank.entered().job().id()).isPositive();
			assertThat(rank.entered().job().repeatedSteps()).isEqualTo(1);
			assertThat(rank.entered().job().generations()).isEqualTo(2);
		});
	}

	/** The loss of an epoch counts until the first step of the next one. */
	@Test
	void anEpochBeginsWithTheStepAfterTheEndOfTheLast() {
		JobRecord ended = JobRecord.START.afterStep(6, 2).afterStep(2, 2).atEpochEnd();
		assertThat(ended.lastEpochLoss()).isEqualTo(2);
		assertThat(ended.resumable().epochSamples()).isZero();
		JobRecord next = ended.afterStep(3, 1);
		assertThat(next.epochEnded()).isFalse();
		assertThat(next.progress().meanLoss()).isEqualTo(3);
		assertThat(next.progress().step()).isEqualTo(3);
		assertThat(next.lastEpochLoss()).isEqualTo(2);
		assertThat(JobRecord.START.restored(ended.resumable()).afterStep(3, 1).progress()).isEqualTo(next.progress());
	}

	/** The group broke after the last step, before its check. */
	@Test
	void noCheckpointOfADivergedModelIsWrittenAfterTheLastStep(@TempDir Path directory) throws Exception {
		ClassifierJob digits = ClassifierJob.defaults();
		ClassifierJob job = new ClassifierJob(1, digits.globalBatch(), digits.learningRate(), 1, 1, null, directory, 0,
				null);
		assertThatExceptionOfType(TrainingDivergedException.class)
			.isThrownBy(() -> resume(job, (options) -> observed(options, 0.01, () -> {
			}), (_, state) -> state.become(state.current().withLossBefore(0.01)), TrainingLoop::resume));
		assertThat(CheckpointFixture.list(directory)).isEmpty();
	}

	/** It takes as long as an evaluation of all training samples. */
	@Test
	void theTrainingLossIsMeasuredOnceAfterTheLastStep() throws Exception {
		ClassifierJob digits = ClassifierJob.defaults();
		ClassifierJob job = new ClassifierJob(1, digits.globalBatch(), digits.learningRate(), 1, 1, null, null, 0,
				null);
		AtomicInteger losses = new AtomicInteger();
		resume(job, (options) -> observed(options, 100, losses::incrementAndGet),
				(_, state) -> state.become(state.current().withLossBefore(2.5)), (loop) -> {
					loop.resume();
					loop.run();
				});
		int samplesOfRank = Math.ceilDiv(1437, 2);
		assertThat(losses).hasValue(2 * Math.ceilDiv(samplesOfRank, digits.task().evaluationBatch()));
	}

	/** What a rank has done with its state before the generation begins. */
	private interface Before {

		void act(int rank, TrainingState state);

	}

	/** Two ranks resume after the last step of the first epoch. */
	private static List<Seen> resume(Before before) throws Exception {
		return resume(ClassifierJob.defaults(), ClassifierJob::task, before, TrainingLoop::resume);
	}

	/**
	 * The classifier.
	 * @param guessingLoss a loss that it need not have
	 * @param losses called with each call of its losses
	 */
	private static TrainingTask observed(ClassifierJob job, double guessingLoss, Runnable losses) {
		TrainingTask task = job.task();
		return (TrainingTask) Proxy.newProxyInstance(TrainingTask.class.getClassLoader(),
				new Class<?>[] { TrainingTask.class }, (_, method, arguments) -> {
					if (method.getName().equals("losses")) {
						losses.run();
					}
					return method.getName().equals("guessingLoss") ? OptionalDouble.of(guessingLoss)
							: method.invoke(task, arguments);
				});
	}

	private static List<Seen> resume(ClassifierJob job, Function<ClassifierJob, TrainingTask> creates, Before before,
			Consumer<TrainingLoop> runs) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			return RankThreads.run(2, Duration.ofSeconds(40), (rank) -> {
				GuardedTask task = new GuardedTask(creates.apply(job));
				try (task) {
					SampleCounts samples = task.load(1, TrainingDevice.CPU);
					Replica replica = new Replica(task, 1, TrainingDevice.CPU, true, false);
					try (TrainingState state = new TrainingState(replica, (_) -> {
					})) {
						state.become(afterSteps());
						before.act(rank, state);
						return resume(world.group(rank), job, task, samples, state, runs);
					}
				}
			});
		}
	}

	private static JobRecord afterSteps() {
		JobRecord steps = JobRecord.START;
		for (int step = 0; step < STEPS; step++) {
			steps = steps.afterStep(1, 1);
		}
		return steps;
	}

	private static Seen resume(ProcessGroup group, ClassifierJob job, GuardedTask task, SampleCounts samples,
			TrainingState state, Consumer<TrainingLoop> runs) {
		byte[] before = state.digest();
		List<String> events = new ArrayList<>();
		TrainingListener listener = new TrainingListener() {

			@Override
			public void epochDone(EpochResult result) {
				events.add("epoch " + result.epoch());
			}

			@Override
			public void stopping(long step, String reason) {
				events.add("stopping after " + step);
			}

		};
		state.enter(group);
		JobRecord entered = state.current();
		try (TrainingLoop loop = new TrainingLoop(group, job.options(), listener, new AtomicReference<>(),
				job.options().fingerprint(task.identity(), samples), task, samples, state, () -> {
				})) {
			runs.accept(loop);
		}
		return new Seen(events, entered, state.current(), before, state.digest());
	}

}
