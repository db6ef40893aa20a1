package io.tutti.training;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.DoubleStream;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.internal.Share;
import org.bytedeco.pytorch.BatchNorm2dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

/**
 * The statistics of all ranks, against libtorch's batch normalization of the whole batch.
 */
@Timeout(120)
@SharesLibtorch
class SynchronizedBatchNormTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int FEATURES = 3;

	private static final int SAMPLES = 7;

	private static final int STEPS = 3;

	@BeforeAll
	static void prepare() {
		NativeLibraryPreparation.prepare();
	}

	/** With more ranks than samples, some have none. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 9 })
	void resultsGradientsAndStatisticsAreThoseOfTheWholeBatch(int ranks) throws Exception {
		BatchNorm2dImpl whole = new BatchNorm2dImpl(new BatchNormOptions(FEATURES));
		whole.to(torch.ScalarType.Double, false);
		List<double[]> outputs = new ArrayList<>();
		List<double[]> gradients = new ArrayList<>();
		for (int step = 0; step < STEPS; step++) {
			Tensor input = batch(step, 0, SAMPLES).requires_grad_(true);
			Tensor output = whole.forward(input);
			loss(output, 0).backward();
			outputs.add(values(output));
			gradients.add(values(input.grad()));
		}
		try (SimulatedWorld world = new SimulatedWorld(ranks, Timeouts.DEFAULTS)) {
			RankThreads.run(ranks, LIMIT, (rank) -> {
				SynchronizedBatchNorm norm = new SynchronizedBatchNorm(world.group(rank), FEATURES);
				norm.to(torch.ScalarType.Double, false);
				Share share = Share.of(SAMPLES, rank, ranks);
				int perSample = outputs.getFirst().length / SAMPLES;
				for (int step = 0; step < STEPS; step++) {
					Tensor input = batch(step, share.from(), share.size()).requires_grad_(true);
					Tensor output = norm.forward(input);
					loss(output, share.from()).backward();
					assertClose(values(output), outputs.get(step), share.from() * perSample);
					assertClose(values(input.grad()), gradients.get(step), share.from() * perSample);
				}
				ModelTensors tensors = ModelTensors.of(norm);
				assertClose(values(tensors.buffers().get("running_mean")), values(whole.running_mean()), 0);
				assertClose(values(tensors.buffers().get("running_var")), values(whole.running_var()), 0);
				assertThat(tensors.buffers().get("num_batches_tracked").item_long()).isEqualTo(STEPS);
				double[] own = values(ModelTensors.of(norm).parameters().get("weight").grad());
				world.group(rank).allReduce(own, io.tutti.ReduceOp.SUM);
				assertClose(own, values(whole.weight().grad()), 0);
				return null;
			});
		}
	}

	/** As in a gradient penalty. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 9 })
	void gradientsOfGradientsAreThoseOfTheWholeBatch(int ranks) throws Exception {
		BatchNorm2dImpl whole = new BatchNorm2dImpl(new BatchNormOptions(FEATURES));
		whole.to(torch.ScalarType.Double, false);
		Tensor all = batch(0, 0, SAMPLES).requires_grad_(true);
		penalty(loss(whole.forward(all), 0), all).backward();
		double[] expected = values(all.grad());
		try (SimulatedWorld world = new SimulatedWorld(ranks, Timeouts.DEFAULTS)) {
			RankThreads.run(ranks, LIMIT, (rank) -> {
				SynchronizedBatchNorm norm = new SynchronizedBatchNorm(world.group(rank), FEATURES);
				norm.to(torch.ScalarType.Double, false);
				Share share = Share.of(SAMPLES, rank, ranks);
				Tensor input = batch(0, share.from(), share.size()).requires_grad_(true);
				penalty(loss(norm.forward(input), share.from()), input).backward();
				double[] own = values(ModelTensors.of(norm).parameters().get("weight").grad());
				world.group(rank).allReduce(own, io.tutti.ReduceOp.SUM);
				assertRelativelyClose(own, values(whole.weight().grad()), 0);
				assertRelativelyClose(values(input.grad()), expected, share.from() * (expected.length / SAMPLES));
				return null;
			});
		}
	}

	/** The squares of the loss's gradients. */
	private static Tensor penalty(Tensor loss, Tensor input) {
		try (TensorVector gradients = torch.grad(new TensorVector(loss), new TensorVector(input), new TensorVector(),
				new BoolOptional(true), true, false)) {
			return gradients.get(0).square().sum();
		}
	}

	private static void assertRelativelyClose(double[] actual, double[] expected, int from) {
		double largest = DoubleStream.of(expected).map(Math::abs).max().orElseThrow();
		assertThat(largest).isPositive();
		for (int index = 0; index < actual.length; index++) {
			assertThat(actual[index]).isCloseTo(expected[from + index], within(1e-9 * largest));
		}
	}

	@Test
	void anEvaluationUsesTheRunningStatisticsWithoutCalls() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			SynchronizedBatchNorm norm = new SynchronizedBatchNorm(world.group(1), FEATURES);
			norm.eval();
			double[] output = values(norm.forward(batch(0, 0, 2)));
			double[] input = values(batch(0, 0, 2));
			for (int index = 0; index < input.length; index++) {
				assertThat(output[index]).isCloseTo(input[index] / Math.sqrt(1 + 1e-5), within(1e-3));
			}
		}
	}

	/** The result of integers would be truncated to integers. */
	@Test
	void aWrongInputIsRefusedWithItsShapeAndType() {
		for (Tensor input : List.of(torch.ones(2, 4), torch.ones(2, FEATURES).to(torch.ScalarType.Long))) {
			try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
				SynchronizedBatchNorm norm = new SynchronizedBatchNorm(world.group(0), FEATURES);
				assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> norm.forward(input))
					.withMessage("rank 0: the input of the batch normalization must be [samples, 3, ...] of a floating"
							+ " type, got [2, " + input.size(1) + "] of " + input.scalar_type().intern());
			}
		}
	}

	@Test
	void aFailedCallEndsTheBackwardPass() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SynchronizedBatchNorm norm = new SynchronizedBatchNorm(world.group(rank), FEATURES);
				Tensor output = norm.forward(batch(0, rank, 2).to(torch.ScalarType.Float).requires_grad_(true));
				world.group(rank).barrier();
				world.group(rank).abort("a test");
				assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> output.sum().backward())
					.withMessageContaining("a test");
				return null;
			});
		}
	}

	/** The other ranks wait for its part of the sum. */
	@Test
	void anErrorInTheBackwardPassOfOneRankFailsTheOthersAtOnce() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				AtomicBoolean fails = new AtomicBoolean();
				SynchronizedBatchNorm norm = new SynchronizedBatchNorm(failing(world.group(rank), fails), FEATURES);
				Tensor output = norm.forward(batch(0, rank, 2).to(torch.ScalarType.Float).requires_grad_(true));
				fails.set(rank == 1);
				assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> output.sum().backward())
					.withMessageContaining("no memory");
				return null;
			});
		}
	}

	/** A group whose calls fail on request. */
	private static ProcessGroup failing(ProcessGroup group, AtomicBoolean fails) {
		return (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, arguments) -> {
					if (method.getName().equals("allReduce") && fails.get()) {
						throw new OutOfMemoryError("no memory");
					}
					try {
						return method.invoke(group, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private static Tensor batch(int step, int from, int count) {
		Tensor all = torch.arange(new Scalar(SAMPLES * FEATURES * 4)).to(torch.ScalarType.Double);
		return torch.sin(all.mul(new Scalar(1.7 + step)))
			.add(new Scalar(100))
			.view(SAMPLES, FEATURES, 2, 2)
			.narrow(0, from, count)
			.clone();
	}

	/** Weighs each value differently, so that no gradient vanishes. */
	private static Tensor loss(Tensor output, int from) {
		long perSample = FEATURES * 4L;
		Tensor weights = torch.arange(new Scalar(output.numel()))
			.to(torch.ScalarType.Double)
			.add(new Scalar((double) (from * perSample)));
		return torch.cos(weights).view_as(output).mul(output.pow(new Scalar(3))).sum();
	}

	private static double[] values(Tensor tensor) {
		double[] values = new double[(int) tensor.numel()];
		Tensor flat = tensor.detach().reshape(-1);
		for (int index = 0; index < values.length; index++) {
			values[index] = flat.select(0, index).item_double();
		}
		return values;
	}

	private static void assertClose(double[] actual, double[] expected, int from) {
		for (int index = 0; index < actual.length; index++) {
			assertThat(actual[index]).isCloseTo(expected[from + index], within(1e-10));
		}
	}

}
