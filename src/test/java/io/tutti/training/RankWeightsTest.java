package io.tutti.training;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

@Timeout(60)
@SharesLibtorch
class RankWeightsTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final int SAMPLES = 22;

	private static final int BATCH = 8;

	@Test
	void sharesFollowTheWeightsAndCoverTheBatch() {
		assertThat(new RankWeights(List.of(3.0, 1.0)).sizes(8)).containsExactly(6, 2);
		assertThat(new RankWeights(List.of(1.0, 0.0, 1.0)).sizes(5)).containsExactly(3, 0, 2);
		assertThat(new RankWeights(List.of(1.0, 1.0, 1.0)).sizes(0)).containsExactly(0, 0, 0);
		assertThat(new RankWeights(List.of(5.0, 0.0)).sizes(7)).containsExactly(7, 0);
		for (int batch = 0; batch < 100; batch++) {
			assertThat(Arrays.stream(new RankWeights(List.of(0.1, 0.7, 0.3)).sizes(batch)).sum()).isEqualTo(batch);
		}
	}

	@Test
	void everySampleOfAnEpochIsTakenOnce() {
		BatchSchedule schedule = new BatchSchedule(SAMPLES, BATCH, 3, 5);
		RankWeights weights = new RankWeights(List.of(1.0, 2.5, 0.5));
		int[] order = schedule.order(1);
		List<Integer> taken = new ArrayList<>();
		for (int step = 0; step < schedule.stepsPerEpoch(); step++) {
			for (int rank = 0; rank < 3; rank++) {
				Arrays.stream(weights.samples(schedule, order, step, rank)).forEach(taken::add);
			}
		}
		assertThat(taken).containsExactlyElementsOf(Arrays.stream(order).boxed().toList());
	}

	@Test
	void valuesThatAreNoWeightsAreRejected() {
		for (List<Double> wrong : List.of(List.of(-1.0, 2.0), List.of(Double.NaN), List.of(0.0, 0.0), List.<Double>of(),
				List.of(Double.POSITIVE_INFINITY), List.of(Double.MAX_VALUE, Double.MAX_VALUE))) {
			assertThatIllegalArgumentException().isThrownBy(() -> new RankWeights(wrong))
				.withMessageContaining(wrong.toString());
		}
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RankWeights(List.of(1.0)).samples(new BatchSchedule(4, 2, 2, 1), new int[4], 0, 0))
			.withMessageContaining("the schedule has 2 ranks, but there are 1 weights");
	}

	@Test
	void unequalRanksTrainTheSameParametersAsEqualOnes() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			List<List<float[]>> trained = RankThreads.run(2, LIMIT, (rank) -> {
				RankWeights unequal = RankWeights.measured(world.group(rank), (rank == 0) ? 300 : 100);
				assertThat(unequal.weights()).containsExactly(300.0, 100.0);
				return List.of(trained(world, rank, unequal), trained(world, rank, new RankWeights(List.of(1.0, 1.0))));
			});
			assertThat(trained.get(1).get(0)).containsExactly(trained.get(0).get(0));
			assertThat(trained.get(0).get(0)).containsExactly(trained.get(0).get(1), within(1e-6f));
		}
	}

	private static float[] trained(SimulatedWorld world, int rank, RankWeights weights) {
		BatchSchedule schedule = new BatchSchedule(SAMPLES, BATCH, 2, 5);
		int[] order = schedule.order(0);
		Tensor slope = torch.ones(3).set_requires_grad(true);
		try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
				ModelTensors.of(Map.of("slope", slope)),
				DataParallelSettings.defaults().withScaling(GradientScaling.SUM))) {
			for (int step = 0; step < schedule.stepsPerEpoch(); step++) {
				try (PointerScope _ = new PointerScope()) {
					replicas.zeroGradients();
					Tensor loss = torch.zeros(1);
					for (int sample : weights.samples(schedule, order, step, rank)) {
						loss = loss.add(torch.tanh(slope.mul(new Scalar(0.1 * sample))).sum());
					}
					loss.add(slope.sum().mul(new Scalar(0.0)))
						.div(new Scalar((double) schedule.batchSize(step)))
						.backward();
					replicas.synchronizeGradients();
					try (NoGradGuard _ = new NoGradGuard()) {
						slope.sub_(slope.grad());
					}
				}
			}
		}
		return TensorMemory.of(slope).toArray(ValueLayout.JAVA_FLOAT);
	}

}
