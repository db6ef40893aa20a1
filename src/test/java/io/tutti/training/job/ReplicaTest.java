package io.tutti.training.job;

import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.TrainingTask;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.BatchNorm1dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A step that a lost rank has interrupted, and its repetition by the other rank.
 */
@Timeout(60)
@SharesLibtorch
class ReplicaTest {

	private static final int BATCH = 8;

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(20));

	/**
	 * The state in the course of two steps, of which another rank may leave the second.
	 */
	private record TwoSteps(String afterFirst, String interrupted, String rolledBack, String afterSecond) {
	}

	/**
	 * The model has batch normalization, whose statistics a step changes, and dropout.
	 */
	@Test
	void aRepeatedStepEndsWithTheStateOfAnUndisturbedOne() throws Exception {
		TwoSteps disturbed = twoSteps(true);
		assertThat(disturbed.interrupted()).isNotEqualTo(disturbed.afterFirst());
		assertThat(disturbed.rolledBack()).isEqualTo(disturbed.afterFirst());
		TwoSteps undisturbed = twoSteps(false);
		assertThat(disturbed.afterFirst()).isEqualTo(undisturbed.afterFirst());
		assertThat(disturbed.afterSecond()).isEqualTo(undisturbed.afterSecond()).isNotEqualTo(disturbed.afterFirst());
	}

	/** The ranks compare all of it when they continue; some have not begun the step. */
	@Test
	void anInterruptedStepLeavesNothingElseThatTheRanksCompare() throws Exception {
		RankThreads.run(1, Duration.ofSeconds(40), (_) -> {
			try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS);
					Noisy task = new Noisy();
					TrainingState state = new TrainingState(
							new Replica(new GuardedTask(task), 1, TrainingDevice.CPU, true, false), (_) -> {
							})) {
				state.replica().join(world.group(0));
				learn(state.replica(), 0, BATCH);
				byte[] before = state.digest();
				world.group(0).abort("lost");
				assertThatExceptionOfType(CollectiveException.class).isThrownBy(() -> learn(state.replica(), 1, BATCH));
				state.rollback();
				assertThat(state.digest()).isEqualTo(before);
				return null;
			}
		});
	}

	/** The others have lost this rank before they have completed their first step. */
	@Test
	void aRankThatHasMadeTheFirstStepAloneTakesTheStateBeforeIt() throws Exception {
		try (SimulatedWorld alone = new SimulatedWorld(1, TIMEOUTS);
				SimulatedWorld both = new SimulatedWorld(2, TIMEOUTS)) {
			List<Outcome<String>> outcomes = RankThreads.outcomes(2, Duration.ofSeconds(40), (rank) -> {
				try (Noisy task = new Noisy();
						TrainingState state = new TrainingState(
								new Replica(new GuardedTask(task), 1, TrainingDevice.CPU, true, false), (_) -> {
								})) {
					if (rank == 1) {
						state.replica().join(alone.group(0));
						learn(state.replica(), 0, BATCH);
					}
					state.synchronize(both.group(rank), 0);
					String synchronizedState = HexFormat.of().formatHex(state.digest());
					state.replica().join(both.group(rank));
					learn(state.replica(), 0, BATCH / 2);
					return synchronizedState + state.replica().stateSha256() + HexFormat.of().formatHex(state.digest());
				}
			});
			assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
			assertThat(outcomes.get(1).value()).isEqualTo(outcomes.get(0).value());
		}
	}

	/**
	 * Rank 1 draws no random numbers meanwhile: libtorch has one generator in a process.
	 */
	private static TwoSteps twoSteps(boolean interrupted) throws Exception {
		CountDownLatch firstStep = new CountDownLatch(1);
		CountDownLatch joined = new CountDownLatch(1);
		try (SimulatedWorld before = new SimulatedWorld(1, TIMEOUTS);
				SimulatedWorld both = new SimulatedWorld(2, TIMEOUTS);
				SimulatedWorld after = new SimulatedWorld(1, TIMEOUTS)) {
			List<Outcome<TwoSteps>> outcomes = RankThreads.outcomes(2, Duration.ofSeconds(40), (rank) -> {
				if (rank == 1) {
					firstStep.await();
				}
				try (Noisy task = new Noisy();
						Replica replica = new Replica(new GuardedTask(task), 1, TrainingDevice.CPU, true, false)) {
					if (rank == 1) {
						replica.join(both.group(1));
						joined.await();
						if (interrupted) {
							both.group(1).abort("lost");
						}
						return null;
					}
					replica.join(before.group(0));
					learn(replica, 0, BATCH);
					firstStep.countDown();
					String first = replica.stateSha256();
					replica.join(both.group(0));
					joined.countDown();
					if (interrupted) {
						assertThatExceptionOfType(CollectiveException.class)
							.isThrownBy(() -> learn(replica, 1, BATCH / 2));
					}
					String changed = replica.stateSha256();
					replica.rollback();
					String rolledBack = replica.stateSha256();
					replica.join(after.group(0));
					learn(replica, 1, BATCH);
					return new TwoSteps(first, changed, rolledBack, replica.stateSha256());
				}
			});
			assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
			return outcomes.getFirst().value();
		}
	}

	/** Learns from the first samples of the batch. */
	private static void learn(Replica replica, long step, int samples) {
		replica.learn(new TrainingStep(step, 0, 10, 1), IntStream.range(0, samples).toArray(), BATCH, false);
	}

	/** Learns the sum of four values. */
	private static final class Noisy implements TrainingTask {

		private final Tensor values = torch.arange(new Scalar(4 * BATCH))
			.to(torch.ScalarType.Float)
			.sin()
			.view(BATCH, 4);

		private LinearImpl input;

		private BatchNorm1dImpl norm;

		private LinearImpl output;

		@Override
		public SampleCounts load(long seed, TrainingDevice device) {
			return new SampleCounts(BATCH, 1);
		}

		@Override
		public Module model() {
			Module model = new Module();
			this.input = model.register_module("input", new LinearImpl(4, 16));
			this.norm = model.register_module("norm", new BatchNorm1dImpl(new BatchNormOptions(16)));
			this.output = model.register_module("output", new LinearImpl(16, 1));
			return model;
		}

		@Override
		public Optimizer optimizer(TensorVector parameters) {
			return new Adam(parameters, new AdamOptions(0.01));
		}

		@Override
		public OptionalDouble learningRate(TrainingStep step) {
			return OptionalDouble.of(0.01 / (step.step() + 1));
		}

		@Override
		public Tensor losses(Batch batch) {
			Tensor x = batch.of(this.values);
			Tensor hidden = torch.dropout(this.norm.forward(this.input.forward(x)).relu(), 0.5, true);
			Tensor difference = this.output.forward(hidden).view(-1).sub(x.sum(1));
			return difference.mul(difference);
		}

		@Override
		public Tensor scores(Batch batch) {
			return losses(batch);
		}

		@Override
		public void close() {
			this.values.close();
		}

	}

}
