package io.tutti.training;

import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.VoidTensorHook;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

@Timeout(120)
@SharesLibtorch
class DistributedDataParallelTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));

	/** One bucket per parameter. */
	private static final DataParallelSettings SMALL_BUCKETS = DataParallelSettings.defaults()
		.withOverlap(Overlap.ALWAYS)
		.withBucketBytes(4);

	/** Two layers, and one that {@link #forward} does not use. */
	private static final class Net extends Module {

		final LinearImpl first;

		final LinearImpl second;

		final LinearImpl unused;

		Net(int hidden) {
			this.first = register_module("first", new LinearImpl(3, hidden));
			this.second = register_module("second", new LinearImpl(hidden, 2));
			this.unused = register_module("unused", new LinearImpl(2, 2));
		}

		Tensor forward(Tensor rows) {
			return this.second.forward(torch.tanh(this.first.forward(rows)));
		}

		void assign(double value) {
			try (NoGradGuard _ = new NoGradGuard(); TensorVector parameters = parameters()) {
				for (Tensor parameter : parameters.get()) {
					parameter.fill_(new Scalar(value));
				}
			}
		}

	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3 })
	void theExampleLearnsThePlaneAndAllReplicasAreEqual(int worldSize) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(worldSize, TIMEOUTS)) {
			List<float[]> weights = RankThreads.run(worldSize, LIMIT,
					(rank) -> values(DistributedDataParallelExample.train(world.group(rank), 100).layer.weight()));
			assertThat(weights.getFirst()[0]).isCloseTo(3, within(1e-2f));
			assertThat(weights.getFirst()[1]).isCloseTo(-2, within(1e-2f));
			assertThat(weights).allSatisfy((other) -> assertThat(other).isEqualTo(weights.getFirst()));
		}
	}

	@Test
	void rankZerosParametersAndBuffersAreBroadcast() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(3, TIMEOUTS)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(rank + 1);
				Tensor counter = torch.tensor(new long[] { rank + 7 });
				Tensor flags = torch.tensor(new byte[] { (byte) rank, 5, 6 });
				net.register_buffer("counter", counter);
				net.register_buffer("flags", flags);
				try (DistributedDataParallel _ = new DistributedDataParallel(world.group(rank), net)) {
					assertThat(values(net.second.weight())).containsOnly(1);
					assertThat(counter.item_long()).isEqualTo(7);
					assertThat(TensorMemory.of(flags).toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 5, 6);
				}
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 4, 64, DataParallelSettings.DEFAULT_BUCKET_BYTES })
	void gradientsAreTheMeanOfTheRanksGradients(long bucketBytes) throws Exception {
		DataParallelSettings settings = SMALL_BUCKETS.withBucketBytes(bucketBytes);
		try (SimulatedWorld world = new SimulatedWorld(3, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(3, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net, settings)) {
					backward(net, rank);
					replicas.synchronizeGradients();
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, meanOfLocalGradients(3), 1e-5));
		}
	}

	@Test
	void gradientsAreBitIdenticalWithAnyOverlapAndBucketSize() throws Exception {
		List<List<float[]>> results = new ArrayList<>();
		for (DataParallelSettings settings : List.of(SMALL_BUCKETS, SMALL_BUCKETS.withOverlap(Overlap.NEVER))) {
			try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
				results.addAll(RankThreads.run(2, LIMIT, (rank) -> trained(world.group(rank), settings, 5)));
			}
		}
		for (List<float[]> other : results) {
			assertClose(other, results.getFirst(), 0);
		}
	}

	@Test
	void aRankWithoutSamplesContributesZeros() throws Exception {
		DataParallelSettings settings = SMALL_BUCKETS.withScaling(GradientScaling.SUM);
		try (SimulatedWorld world = new SimulatedWorld(3, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(3, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net, settings)) {
					for (int step = 0; step < 2; step++) {
						replicas.zeroGradients();
						if (rank == 1) {
							backward(net, rank);
						}
						replicas.synchronizeGradients();
					}
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, localGradients(1), 0));
		}
	}

	@Test
	void gradientsDroppedByTheOptimizerAreCopiedIntoTheirBucket() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				SGD optimizer = new SGD(net.parameters(), new SGDOptions(0.1));
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net,
						SMALL_BUCKETS)) {
					for (int step = 0; step < 3; step++) {
						optimizer.zero_grad();
						backward(net, rank);
						replicas.synchronizeGradients();
					}
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, meanOfLocalGradients(2), 1e-5));
		}
	}

	@Test
	void aDroppedGradientThatIsNotComputedAgainIsZero() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				SGD optimizer = new SGD(net.parameters(), new SGDOptions(0.1));
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net,
						SMALL_BUCKETS.withScaling(GradientScaling.SUM))) {
					for (int step = 0; step < 2; step++) {
						optimizer.zero_grad();
						if (rank == step) {
							backward(net, rank);
						}
						replicas.synchronizeGradients();
					}
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, localGradients(1), 0));
		}
	}

	@Test
	void aBucketIsReducedDuringTheBackwardPass() {
		CountDownLatch reduced = new CountDownLatch(1);
		boolean[] overlapped = new boolean[1];
		try (ProcessGroup group = lonely((call) -> {
			if (call.collective() == Collective.ALL_REDUCE) {
				reduced.countDown();
			}
		})) {
			Net net = new Net(4);
			VoidTensorHook hook = new VoidTensorHook() {
				@Override
				public void call(TensorBase gradient) {
					try {
						overlapped[0] = reduced.await(20, TimeUnit.SECONDS);
					}
					catch (InterruptedException ex) {
						Thread.currentThread().interrupt();
					}
				}
			};
			hook.retainReference();
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, net.second, SMALL_BUCKETS)) {
				net.first.weight().register_hook(hook);
				backward(net, 0);
				replicas.synchronizeGradients();
			}
			assertThat(overlapped[0]).isTrue();
		}
	}

	@Test
	void backwardPassesAccumulateWithoutOverlap() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net,
						SMALL_BUCKETS.withOverlap(Overlap.NEVER).withScaling(GradientScaling.SUM))) {
					backward(net, 2 * rank);
					backward(net, 2 * rank + 1);
					replicas.synchronizeGradients();
					return gradients(net);
				}
			});
			List<float[]> expected = scaled(meanOfLocalGradients(4), 4);
			assertThat(gradients).allSatisfy((other) -> assertClose(other, expected, 1e-5));
		}
	}

	private static Stream<Arguments> secondPasses() {
		return IntStream.rangeClosed(1, 3)
			.boxed()
			.flatMap((worldSize) -> Stream.of(4L, 64L, DataParallelSettings.DEFAULT_BUCKET_BYTES)
				.flatMap((bytes) -> Stream.of(GradientScaling.values())
					.flatMap((scaling) -> Stream.of(true, false)
						.map((everywhere) -> Arguments.of(worldSize, bytes, scaling, everywhere)))));
	}

	/**
	 * The number of backward passes differs between ranks: one rank makes two, the next
	 * one or none.
	 */
	@ParameterizedTest
	@MethodSource("secondPasses")
	void aSecondBackwardPassUnderOverlapFailsOnEveryRankAndTheNextStepSucceeds(int worldSize, long bucketBytes,
			GradientScaling scaling, boolean everywhere) throws Exception {
		DataParallelSettings settings = SMALL_BUCKETS.withBucketBytes(bucketBytes).withScaling(scaling);
		try (SimulatedWorld world = new SimulatedWorld(worldSize, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(worldSize, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net, settings)) {
					for (int round = 0; round < 3; round++) {
						for (int pass = 0; pass < (everywhere ? 2 : 2 - rank); pass++) {
							backward(net, rank);
						}
						assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
							.withMessageStartingWith((everywhere || rank == 0) ? "this rank" : "another rank")
							.withMessageContaining("second backward pass")
							.withMessageContaining("disable overlap");
						assertThat(gradients(net)).allSatisfy((gradient) -> assertThat(gradient).containsOnly(0));
						backward(net, rank);
						replicas.synchronizeGradients();
						replicas.zeroGradients();
					}
					backward(net, rank);
					replicas.synchronizeGradients();
					return gradients(net);
				}
			});
			List<float[]> expected = scaled(meanOfLocalGradients(worldSize),
					(scaling == GradientScaling.SUM) ? worldSize : 1);
			assertThat(gradients).allSatisfy((other) -> assertClose(other, expected, 1e-5));
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 4, DataParallelSettings.DEFAULT_BUCKET_BYTES })
	void gradientsThatOtherRanksMayHaveAreNotSetToZero(long bucketBytes) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net,
						SMALL_BUCKETS.withBucketBytes(bucketBytes))) {
					backward(net, rank);
					assertThatIllegalStateException().isThrownBy(replicas::zeroGradients)
						.withMessageContaining("call synchronizeGradients() first");
					replicas.synchronizeGradients();
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, meanOfLocalGradients(2), 1e-5));
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 4, 64, DataParallelSettings.DEFAULT_BUCKET_BYTES })
	void gradientsOfTorchGradAreNoBackwardPass(long bucketBytes) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net,
						SMALL_BUCKETS.withBucketBytes(bucketBytes))) {
					for (int round = 0; round < 2; round++) {
						torchGrad(net);
						replicas.zeroGradients();
						torchGrad(net);
						backward(net, rank);
						torchGrad(net);
						replicas.synchronizeGradients();
						torchGrad(net);
					}
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, meanOfLocalGradients(2), 1e-5));
		}
	}

	/** Gradients of the used parameters that are not accumulated into them. */
	private static void torchGrad(Net net) {
		Tensor loss = torch.mse_loss(net.forward(torch.ones(2, 3)), torch.ones(2, 2));
		TensorVector inputs = new TensorVector(net.first.weight(), net.first.bias(), net.second.weight(),
				net.second.bias());
		assertThat(torch.grad(new TensorVector(loss), inputs).size()).isEqualTo(4);
	}

	@Test
	void aFailedHookAbortsTheGroupAndNamesItsParameter() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<Throwable> failures = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				ProcessGroup group = (rank == 1) ? withoutAsync(world.group(rank)) : world.group(rank);
				try (DistributedDataParallel replicas = new DistributedDataParallel(group, net.second, SMALL_BUCKETS)) {
					long start = System.nanoTime();
					backward(net, rank);
					Throwable failure = catchThrowable(replicas::synchronizeGradients);
					assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUTS.collective());
					return failure;
				}
			});
			assertThat(failures.get(1)).isInstanceOf(IllegalStateException.class).hasMessage("no memory");
			assertThat(failures.get(0)).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("rank 1: the gradient hook of parameter")
				.hasMessageContaining("no memory");
		}
	}

	/** A group that cannot start asynchronous all-reduces. */
	private static ProcessGroup withoutAsync(ProcessGroup group) {
		return (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, arguments) -> {
					if (method.getName().equals("allReduceAsync")) {
						throw new IllegalStateException("no memory");
					}
					try {
						return method.invoke(group, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	@Test
	void gradientsMayBeSetToZeroBetweenBackwardPassesWithoutOverlap() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> gradients = RankThreads.run(2, LIMIT, (rank) -> {
				Net net = new Net(4);
				net.assign(0.25);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), net,
						SMALL_BUCKETS.withOverlap(Overlap.NEVER))) {
					backward(net, 7);
					replicas.zeroGradients();
					backward(net, rank);
					replicas.synchronizeGradients();
					return gradients(net);
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertClose(other, meanOfLocalGradients(2), 1e-5));
		}
	}

	@Test
	void aParameterThatStartsToRequireAGradientIsRejectedByName() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			net.first.weight().set_requires_grad(false);
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, net)) {
				net.first.weight().set_requires_grad(true);
				backward(net, 0);
				assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
					.withMessageContaining("4x3")
					.withMessageContaining("wrap the model again");
				net.first.weight().set_requires_grad(false);
				replicas.synchronizeGradients();
			}
		}
	}

	@Test
	void ranksWithDifferentModelsFailWithBothLayouts() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(3, TIMEOUTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				new DistributedDataParallel(world.group(rank), new Net((rank == 2) ? 5 : 4)).close();
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
					.hasMessageContaining("rank 2 holds")
					.hasMessageContaining("5x3")
					.hasMessageContaining("4x3"));
		}
	}

	@Test
	void ranksWithDifferentSettingsFail() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				new DistributedDataParallel(world.group(rank), new Net(4),
						DataParallelSettings.defaults().withBucketBytes(100 + rank))
					.close();
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
					.hasMessageContaining("buckets of 101 bytes"));
		}
	}

	@Test
	void parametersThatRequireNoGradientAreNotReduced() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			net.unused.weight().set_requires_grad(false);
			net.unused.bias().set_requires_grad(false);
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, net)) {
				assertThat(replicas.parameterCount()).isEqualTo(3 * 4 + 4 + 4 * 2 + 2);
				backward(net, 0);
				replicas.synchronizeGradients();
				assertThat(net.unused.weight().grad().defined()).isFalse();
				assertThat(replicas.allReducedBytes()).isEqualTo(4 * replicas.parameterCount());
			}
		}
	}

	@Test
	void otherElementTypesAreRejectedByName() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			net.to(torch.ScalarType.ComplexFloat, false);
			assertThatIllegalArgumentException().isThrownBy(() -> new DistributedDataParallel(group, net))
				.withMessageContaining("float32")
				.withMessageContaining("ComplexFloat")
				.withMessageContaining("4x3");
		}
	}

	@Test
	void aModelWithoutParametersIsRejected() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> new DistributedDataParallel(group, new Module("none")))
				.withMessageContaining("no parameter");
		}
	}

	@Test
	void itOutlivesThePointerScopeItWasCreatedIn() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			DistributedDataParallel replicas;
			try (PointerScope _ = new PointerScope()) {
				replicas = new DistributedDataParallel(group, net, SMALL_BUCKETS);
			}
			net.assign(0.25);
			backward(net, 1);
			replicas.synchronizeGradients();
			assertClose(gradients(net), localGradients(1), 0);
			replicas.zeroGradients();
			assertThat(net.second.weight().grad().defined()).isFalse();
			replicas.close();
		}
	}

	@Test
	void afterCloseTheModelKeepsItsValuesAndTrainsOnItsOwn() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			net.assign(0.25);
			DistributedDataParallel replicas = new DistributedDataParallel(group, net);
			backward(net, 1);
			replicas.synchronizeGradients();
			replicas.close();
			replicas.close();
			assertThat(net.first.weight().grad().defined()).isFalse();
			assertThat(values(net.first.weight())).containsOnly(0.25f);
			backward(net, 1);
			assertClose(gradients(net), localGradients(1), 0);
			assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
				.withMessageContaining("closed");
		}
	}

	@Test
	void stepsLeakNoNativeObjects() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, net, SMALL_BUCKETS)) {
				steps(net, replicas, 1);
				long before = Pointer.totalCount();
				steps(net, replicas, 50);
				assertThat(Pointer.totalCount()).isLessThanOrEqualTo(before);
			}
		}
	}

	/** For example one of the whole program. */
	@Test
	void synchronizingInsideALastingScopeLeaksNoNativeObjects() {
		try (ProcessGroup group = lonely((_) -> {
		})) {
			Net net = new Net(4);
			try (PointerScope _ = new PointerScope();
					DistributedDataParallel replicas = new DistributedDataParallel(group, net, SMALL_BUCKETS)) {
				synchronizations(net, replicas, 1);
				long before = Pointer.totalCount();
				synchronizations(net, replicas, 50);
				assertThat(Pointer.totalCount()).isLessThanOrEqualTo(before);
			}
		}
	}

	private static void synchronizations(Net net, DistributedDataParallel replicas, int count) {
		for (int step = 0; step < count; step++) {
			try (PointerScope _ = new PointerScope()) {
				replicas.zeroGradients();
				backward(net, step);
			}
			replicas.synchronizeGradients();
		}
	}

	private static void steps(Net net, DistributedDataParallel replicas, int count) {
		for (int step = 0; step < count; step++) {
			try (PointerScope _ = new PointerScope()) {
				replicas.zeroGradients();
				backward(net, step);
				replicas.synchronizeGradients();
			}
		}
	}

	private static List<float[]> trained(ProcessGroup group, DataParallelSettings settings, int steps) {
		Net net = new Net(4);
		net.assign(0.25);
		SGD optimizer = new SGD(net.parameters(), new SGDOptions(0.1));
		try (DistributedDataParallel replicas = new DistributedDataParallel(group, net, settings)) {
			for (int step = 0; step < steps; step++) {
				replicas.zeroGradients();
				backward(net, group.rank() + 10 * step);
				replicas.synchronizeGradients();
				optimizer.step();
			}
			return gradients(net);
		}
	}

	private static void backward(Net net, int sample) {
		Tensor rows = torch.tensor(new float[] { sample + 1, 0.5f * sample, -1, 2, -sample, 0.1f }).view(2, 3);
		torch.mse_loss(net.forward(rows), torch.ones(2, 2)).backward();
	}

	/** Reference gradients that libtorch computes without data parallelism. */
	private static List<float[]> localGradients(int sample) {
		Net net = new Net(4);
		net.assign(0.25);
		backward(net, sample);
		return gradients(net);
	}

	private static List<float[]> meanOfLocalGradients(int worldSize) {
		List<float[]> mean = scaled(localGradients(0), 1.0f / worldSize);
		for (int rank = 1; rank < worldSize; rank++) {
			List<float[]> other = localGradients(rank);
			for (int parameter = 0; parameter < mean.size(); parameter++) {
				for (int index = 0; index < mean.get(parameter).length; index++) {
					mean.get(parameter)[index] += other.get(parameter)[index] / worldSize;
				}
			}
		}
		return mean;
	}

	private static List<float[]> scaled(List<float[]> values, float factor) {
		for (float[] value : values) {
			for (int index = 0; index < value.length; index++) {
				value[index] *= factor;
			}
		}
		return values;
	}

	/** Gradients of all parameters, zeros for a parameter without one. */
	private static List<float[]> gradients(Net net) {
		List<float[]> gradients = new ArrayList<>();
		try (TensorVector parameters = net.parameters()) {
			for (Tensor parameter : parameters.get()) {
				Tensor gradient = parameter.grad();
				gradients.add(gradient.defined() ? values(gradient) : new float[(int) parameter.numel()]);
			}
		}
		return gradients;
	}

	private static float[] values(Tensor tensor) {
		return TensorMemory.of(tensor).toArray(ValueLayout.JAVA_FLOAT);
	}

	private static void assertClose(List<float[]> actual, List<float[]> expected, double tolerance) {
		assertThat(actual).hasSameSizeAs(expected);
		for (int index = 0; index < expected.size(); index++) {
			assertThat(actual.get(index)).containsExactly(expected.get(index), within((float) tolerance));
		}
	}

	/** A group of one rank whose backend records its calls. */
	private static ProcessGroup lonely(Consumer<Call> watcher) {
		GroupIdentity identity = GroupIdentity.world(0, 1, 0);
		return new DefaultProcessGroup(identity, new GroupBackend() {
			@Override
			public String name() {
				return "lonely";
			}

			@Override
			public String transport() {
				return "lonely";
			}

			@Override
			public void run(Call call) {
				watcher.accept(call);
				if (call.collective() == Collective.ALL_GATHER) {
					NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.bytes());
				}
			}

			@Override
			public void wake() {
			}

			@Override
			public void close() {
			}
		}, new FailureLatch(), (_) -> {
		}, TIMEOUTS);
	}

}
