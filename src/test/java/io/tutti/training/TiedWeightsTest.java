package io.tutti.training;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

/**
 * Models with one tensor under several names, and with tensors that share memory or are
 * empty.
 */
@Timeout(120)
@SharesLibtorch
class TiedWeightsTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));

	private static final int STEPS = 5;

	private static final double LEARNING_RATE = 0.01;

	/** A model and its loss on a sample. */
	private abstract static class Model extends Module {

		abstract Tensor forward(Tensor rows);

		/** The trained tensors, each once. */
		abstract List<Tensor> learning();

	}

	/** As in a language model, the first and the last layer share one weight. */
	private static final class TiedEnds extends Model {

		final LinearImpl middle;

		final Tensor first;

		final Tensor last;

		/**
		 * @param tied whether the two names refer to one tensor or to two
		 */
		TiedEnds(boolean tied) {
			this.first = registered(this, "first", torch.ones(3, 3));
			this.middle = register_module("middle", new LinearImpl(3, 3));
			this.last = registered(this, "last", tied ? this.first : torch.ones(3, 3));
			assign(this, 0.25);
		}

		TiedEnds() {
			this(true);
		}

		@Override
		Tensor forward(Tensor rows) {
			return torch.tanh(this.middle.forward(rows.matmul(this.first))).matmul(this.last);
		}

		@Override
		List<Tensor> learning() {
			return List.of(this.first, this.middle.weight(), this.middle.bias());
		}

	}

	/** One layer in two submodules, registered three times in the model. */
	private static final class SharedLayer extends Model {

		final LinearImpl layer = new LinearImpl(3, 3);

		final Tensor scale;

		SharedLayer() {
			Module encoder = new Module("encoder");
			Module decoder = new Module("decoder");
			encoder.register_module("layer", this.layer);
			decoder.register_module("layer", this.layer);
			register_module("encoder", encoder);
			this.scale = registered(this, "scale", torch.ones(3));
			register_module("decoder", decoder);
			decoder.register_parameter("weight", this.layer.weight());
			assign(this, 0.25);
		}

		@Override
		Tensor forward(Tensor rows) {
			return this.layer.forward(torch.tanh(this.layer.forward(rows)).mul(this.scale));
		}

		@Override
		List<Tensor> learning() {
			return List.of(this.layer.weight(), this.layer.bias(), this.scale);
		}

	}

	/** A tied tensor that requires no gradient, between two that do. */
	private static final class FrozenTie extends Model {

		final Tensor first;

		final Tensor frozen;

		final Tensor last;

		FrozenTie() {
			this.first = registered(this, "first", torch.ones(3, 3));
			this.frozen = registered(this, "frozen", torch.ones(3, 3));
			register_parameter("again", this.frozen, false);
			this.last = registered(this, "last", torch.ones(3, 3));
			assign(this, 0.25);
		}

		@Override
		Tensor forward(Tensor rows) {
			return torch.tanh(rows.matmul(this.first).matmul(this.frozen)).matmul(this.last).matmul(this.frozen);
		}

		@Override
		List<Tensor> learning() {
			return List.of(this.first, this.last);
		}

	}

	/**
	 * As {@link TiedEnds}, frozen by a registration under another name and then set to
	 * require a gradient again.
	 */
	private static final class ThawedTie extends Model {

		final TiedEnds ends;

		ThawedTie() {
			this.ends = register_module("ends", new TiedEnds());
			register_parameter("again", this.ends.first, false);
			this.ends.last.set_requires_grad(true);
		}

		@Override
		Tensor forward(Tensor rows) {
			return this.ends.forward(rows);
		}

		@Override
		List<Tensor> learning() {
			return this.ends.learning();
		}

	}

	/**
	 * Two tensors over the same memory. libtorch gives each its own gradient, so both are
	 * reduced.
	 */
	private static final class SharedMemory extends Model {

		final Tensor first;

		final Tensor alias;

		SharedMemory() {
			this.first = registered(this, "first", torch.ones(3, 3));
			this.alias = registered(this, "alias", this.first.detach().t());
			assign(this, 0.25);
		}

		@Override
		Tensor forward(Tensor rows) {
			return torch.tanh(rows.matmul(this.first)).matmul(this.alias);
		}

		@Override
		List<Tensor> learning() {
			return List.of(this.first, this.alias);
		}

	}

	/** Empty tensors, in first, last and other positions. */
	private static final class WithEmpty extends Model {

		final Tensor weight;

		final Tensor empty;

		WithEmpty() {
			this.empty = registered(this, "empty", torch.empty(0));
			this.weight = registered(this, "weight", torch.ones(3, 3));
			register_parameter("rows", torch.empty(0, 3));
			register_buffer("buffer", torch.empty(2, 0));
			register_buffer("counter", torch.ones(1));
			assign(this, 0.25);
		}

		@Override
		Tensor forward(Tensor rows) {
			return torch.tanh(rows.matmul(this.weight)).add(this.empty.sum());
		}

		@Override
		List<Tensor> learning() {
			return List.of(this.weight);
		}

	}

	private static Stream<Arguments> cases() {
		List<Supplier<Model>> models = List.of(TiedEnds::new, SharedLayer::new, FrozenTie::new, ThawedTie::new,
				SharedMemory::new, WithEmpty::new);
		return models.stream()
			.flatMap((model) -> Stream.of(GradientScaling.values())
				.flatMap((scaling) -> Stream.of(Overlap.ALWAYS, Overlap.NEVER)
					.flatMap((overlap) -> Stream.of(4L, 40L, DataParallelSettings.DEFAULT_BUCKET_BYTES)
						.flatMap((bytes) -> IntStream.rangeClosed(1, 3)
							.mapToObj((worldSize) -> Arguments.of(model.get().getClass().getSimpleName(), model,
									worldSize,
									DataParallelSettings.defaults()
										.withBucketBytes(bytes)
										.withScaling(scaling)
										.withOverlap(overlap)))))));
	}

	/**
	 * The single process computes the mean or the sum of the ranks' losses. One backward
	 * pass then gives the gradients that the ranks compute together.
	 */
	@ParameterizedTest(name = "{0} on {2}, {3}")
	@MethodSource("cases")
	void theRanksTrainTheSameModelAsOneProcess(String name, Supplier<Model> model, int worldSize,
			DataParallelSettings settings) throws Exception {
		List<float[]> expected = learntAlone(model.get(), worldSize, settings.scaling());
		try (SimulatedWorld world = new SimulatedWorld(worldSize, TIMEOUTS)) {
			List<List<float[]>> learnt = RankThreads.run(worldSize, LIMIT,
					(rank) -> learntTogether(world.group(rank), model.get(), settings));
			assertThat(learnt).allSatisfy((other) -> {
				assertThat(other).hasSameSizeAs(expected);
				for (int index = 0; index < expected.size(); index++) {
					assertThat(other.get(index)).containsExactly(expected.get(index), within(1e-5f));
				}
			});
		}
	}

	/** Otherwise the part of one rank would replace the update of another one. */
	@Test
	void aDividedOptimizerUpdatesSharedMemoryAsOneProcessDoes() throws Exception {
		List<float[]> expected = learntAlone(new SharedMemory(), 2, GradientScaling.AVERAGE);
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<List<float[]>> learnt = RankThreads.run(2, LIMIT, (rank) -> {
				SharedMemory model = new SharedMemory();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model);
						ShardedOptimizer optimizer = new ShardedOptimizer(world.group(rank), ModelTensors.of(model),
								(part) -> new SGD(part, new SGDOptions(LEARNING_RATE)))) {
					for (int step = 0; step < STEPS; step++) {
						replicas.zeroGradients();
						loss(model, rank + 10 * step).backward();
						replicas.synchronizeGradients();
						optimizer.step();
					}
				}
				return learnt(model);
			});
			assertThat(learnt).allSatisfy((other) -> {
				assertThat(other.getFirst()).containsExactly(expected.getFirst(), within(1e-5f));
				assertThat(other.getLast()).containsExactly(expected.getLast(), within(1e-5f));
			});
		}
	}

	@Test
	void tensorsOfAMapWithoutOrderAreOrderedByName() {
		Map<String, Tensor> tensors = Map.of("d", torch.ones(1), "a", torch.ones(1), "c", torch.ones(1), "b",
				torch.ones(1));
		assertThat(ModelTensors.of(tensors).parameters().keySet()).containsExactly("a", "b", "c", "d");
		assertThat(ModelTensors.of(new LinkedHashMap<>(ModelTensors.of(tensors).parameters().reversed()))
			.parameters()
			.keySet()).containsExactly("d", "c", "b", "a");
	}

	@ParameterizedTest
	@EnumSource(Overlap.class)
	void eachTensorIsCountedAndReducedOnce(Overlap overlap) throws Exception {
		DataParallelSettings settings = DataParallelSettings.defaults().withBucketBytes(4).withOverlap(overlap);
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS);
				DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), new TiedEnds(),
						settings)) {
			assertThat(replicas.parameterCount()).isEqualTo(9 + 9 + 3);
			assertThat(replicas.bucketCount()).isEqualTo(3);
		}
	}

	@Test
	void rankZerosTiedAndSharedValuesAreBroadcast() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(3, TIMEOUTS)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				SharedMemory shared = new SharedMemory();
				TiedEnds tied = new TiedEnds();
				Tensor buffer = torch.full(new long[] { 2 }, new Scalar(rank + 7.0));
				tied.register_buffer("one", buffer);
				tied.middle.register_buffer("other", buffer);
				assign(shared, rank + 1);
				assign(tied, rank + 2);
				try (DistributedDataParallel _ = new DistributedDataParallel(world.group(rank), shared);
						DistributedDataParallel _ = new DistributedDataParallel(world.group(rank), tied)) {
					assertThat(values(shared.first)).containsOnly(1);
					assertThat(values(tied.last)).containsOnly(2);
					assertThat(values(buffer)).containsOnly(7);
				}
				return null;
			});
		}
	}

	@Test
	void ranksThatTieDifferentTensorsFail() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				new DistributedDataParallel(world.group(rank), new TiedEnds(rank == 0)).close();
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
					.hasMessageContaining("rank 1 holds"));
		}
	}

	/**
	 * The number and shapes of tensors are equal; only the mapping from names to tensors
	 * differs.
	 */
	@Test
	void ranksThatTieTheSameTensorsUnderDifferentNamesFail() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				Module module = new Module("three");
				Tensor one = registered(module, "a", torch.ones(2));
				Tensor other = torch.ones(2);
				module.register_parameter("b", (rank == 0) ? one : other);
				module.register_parameter("c", other);
				new DistributedDataParallel(world.group(rank), module).close();
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
					.hasMessageContaining("rank 1 holds")
					.hasMessageContaining("tensor 2 is b Float 2")
					.hasMessageContaining("tensor 2 is b the same as tensor 1"));
		}
	}

	@Test
	void aParameterThatIsComputedFromAnotherTensorIsRejected() {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			TiedEnds tied = new TiedEnds();
			tied.register_parameter("turned", tied.first.t());
			assertThatIllegalArgumentException().isThrownBy(() -> new DistributedDataParallel(world.group(0), tied))
				.withMessageContaining("3x3")
				.withMessageContaining("computed from another tensor");
		}
	}

	@Test
	void aModelWithOnlyEmptyParametersIsRejected() {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			Module module = new Module("empty");
			module.register_parameter("empty", torch.empty(0));
			assertThatIllegalArgumentException().isThrownBy(() -> new DistributedDataParallel(world.group(0), module))
				.withMessageContaining("no parameter");
		}
	}

	private static List<float[]> learntAlone(Model model, int samples, GradientScaling scaling) {
		for (int step = 0; step < STEPS; step++) {
			model.zero_grad(true);
			Tensor total = torch.zeros(1);
			for (int sample = 0; sample < samples; sample++) {
				total = total.add(loss(model, sample + 10 * step));
			}
			total.div(new Scalar((scaling == GradientScaling.AVERAGE) ? (double) samples : 1)).backward();
			descend(model);
		}
		return learnt(model);
	}

	private static List<float[]> learntTogether(ProcessGroup group, Model model, DataParallelSettings settings) {
		try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, settings)) {
			for (int step = 0; step < STEPS; step++) {
				replicas.zeroGradients();
				loss(model, group.rank() + 10 * step).backward();
				replicas.synchronizeGradients();
				descend(model);
			}
		}
		return learnt(model);
	}

	private static Tensor loss(Model model, int sample) {
		Tensor rows = torch.tensor(new float[] { sample + 1, 0.5f * sample, -1, 2, -sample, 0.1f }).view(2, 3);
		return torch.mse_loss(model.forward(rows), torch.ones(2, 3));
	}

	private static void descend(Model model) {
		try (NoGradGuard _ = new NoGradGuard()) {
			for (Tensor tensor : model.learning()) {
				tensor.sub_(tensor.grad().mul(new Scalar(LEARNING_RATE)));
			}
		}
	}

	private static List<float[]> learnt(Model model) {
		List<float[]> learnt = new ArrayList<>();
		model.learning().forEach((tensor) -> learnt.add(values(tensor)));
		return learnt;
	}

	/**
	 * Returns the given tensor: libtorch returns a reference into a list that the next
	 * registration may move.
	 */
	private static Tensor registered(Module module, String name, Tensor tensor) {
		module.register_parameter(name, tensor);
		return tensor;
	}

	private static void assign(Module module, double value) {
		try (NoGradGuard _ = new NoGradGuard(); TensorVector parameters = module.parameters()) {
			for (Tensor parameter : parameters.get()) {
				parameter.fill_(new Scalar(value));
			}
		}
	}

	private static float[] values(Tensor tensor) {
		try (Tensor values = tensor.contiguous()) {
			return TensorMemory.of(values).toArray(ValueLayout.JAVA_FLOAT);
		}
	}

}
