package io.tutti.training;

import java.io.BufferedReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.tutti.BackendUnavailableException;
import io.tutti.ExitCode;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.TestJvm;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.checkpoint.CheckpointFixture;
import io.tutti.training.internal.IntraOpThreads;
import io.tutti.training.internal.TensorMemory;
import org.assertj.core.api.ThrowableAssert;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.BatchNorm1dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.IValueVector;
import org.bytedeco.pytorch.JitModule;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.QualifiedName;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorArrayRefOptional;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.VoidTensorHook;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.offset;
import static org.assertj.core.api.Assertions.within;

/**
 * Each case of the table trains on two ranks and in one process, which computes the
 * ranks' losses one after the other. The parameters are equal to the last digit.
 */
@Timeout(60)
@SharesLibtorch
class DataParallelCasesTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(20));

	private static final int RANKS = 2;

	private static final int STEPS = 4;

	private static final DataParallelSettings SETTINGS = DataParallelSettings.defaults()
		.withOverlap(Overlap.ALWAYS)
		.withBucketBytes(64);

	/** A model, and its loss on a rank in a step; {@code null} for no backward pass. */
	private abstract static class Case {

		final SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();

		Tensor add(String name, torch.ScalarType type, long... sizes) {
			Tensor values = torch.arange(new Scalar(product(sizes))).mul(new Scalar(0.01)).add(new Scalar(0.1));
			Tensor parameter = values.view(sizes).to(type).contiguous().clone().set_requires_grad(true);
			this.parameters.put(name, parameter);
			return parameter;
		}

		Tensor add(String name, long... sizes) {
			return add(name, torch.ScalarType.Float, sizes);
		}

		ModelTensors tensors() {
			return ModelTensors.of(this.parameters);
		}

		abstract Tensor loss(int rank, int step);

		/** A loss whose gradients depend on the values, the rank and the step. */
		static Tensor term(Tensor parameter, int rank, int step) {
			Tensor scaled = parameter.mul(new Scalar(1.0 + rank + 0.5 * step));
			return torch.tanh(scaled).sum().to(torch.ScalarType.Float);
		}

		private static double product(long... sizes) {
			double product = 1;
			for (long size : sizes) {
				product *= size;
			}
			return product;
		}

	}

	private static final class SeveralTypes extends Case {

		SeveralTypes() {
			for (int layer = 0; layer < 3; layer++) {
				add("float" + layer, torch.ScalarType.Float, 3, 4);
				add("double" + layer, torch.ScalarType.Double, 5);
				add("half" + layer, torch.ScalarType.Half, 7);
				add("bfloat" + layer, torch.ScalarType.BFloat16, 9);
			}
		}

		@Override
		Tensor loss(int rank, int step) {
			return sum(this, rank, step);
		}

	}

	private static final class HalfOnly extends Case {

		HalfOnly() {
			add("only", torch.ScalarType.Half, 7);
		}

		@Override
		Tensor loss(int rank, int step) {
			return sum(this, rank, step);
		}

	}

	private static final class ChannelsLast extends Case {

		final Tensor weight;

		ChannelsLast() {
			try (Tensor plain = add("weight", 4, 3, 2, 2).detach()) {
				this.weight = plain.contiguous(torch.MemoryFormat.ChannelsLast).set_requires_grad(true);
			}
			this.parameters.put("weight", this.weight);
			assertThat(this.weight.is_contiguous()).isFalse();
		}

		@Override
		Tensor loss(int rank, int step) {
			Tensor images = torch.arange(new Scalar(2 * 3 * 4 * 4.0))
				.view(2, 3, 4, 4)
				.mul(new Scalar(0.01 * (rank + 1)));
			return torch.tanh(torch.conv2d(images, this.weight)).sum();
		}

	}

	/** The gradient of an expanded tensor has another layout than the tensor. */
	private static final class Expanded extends Case {

		final Tensor column;

		Expanded() {
			Tensor base = torch.arange(new Scalar(3.0)).view(3, 1).expand(3, 2);
			this.column = base.set_requires_grad(true);
			this.parameters.put("plain", add("plain", 3));
			assertThat(this.column.is_non_overlapping_and_dense()).isFalse();
		}

		@Override
		Tensor loss(int rank, int step) {
			return sum(this, rank, step).add(term(this.column, rank, step));
		}

	}

	private static final class Frozen extends Case {

		Frozen() {
			add("learning", 3);
			add("frozen", 3).set_requires_grad(false);
		}

		@Override
		Tensor loss(int rank, int step) {
			return sum(this, rank, step);
		}

	}

	/** One parameter that no rank uses, and one that rank 1 does not use. */
	private static final class Unused extends Case {

		final Tensor first = add("first", 20);

		final Tensor partly = add("partly", 20);

		final Tensor never = add("never", 20);

		final Tensor last = add("last", 20);

		@Override
		Tensor loss(int rank, int step) {
			Tensor both = term(this.first, rank, step).add(term(this.last, rank, step));
			return (rank == 1) ? both : both.add(term(this.partly, rank, step));
		}

	}

	/** The parameters that a rank uses change from step to step. */
	private static final class Alternating extends Case {

		Alternating() {
			for (int layer = 0; layer < 6; layer++) {
				add("layer" + layer, 20);
			}
		}

		@Override
		Tensor loss(int rank, int step) {
			Tensor loss = term(this.parameters.get("layer0"), rank, step);
			for (int layer = 1; layer < 6; layer++) {
				if ((layer + rank + step) % 3 != 0) {
					loss = loss.add(term(this.parameters.get("layer" + layer), rank, step));
				}
			}
			return loss;
		}

	}

	/** The backward pass completes the gradients in the order of their registration. */
	private static final class Reversed extends Case {

		Reversed() {
			for (int layer = 0; layer < 5; layer++) {
				add("layer" + layer, 20);
			}
		}

		@Override
		Tensor loss(int rank, int step) {
			Tensor value = torch.ones(20);
			for (Tensor parameter : this.parameters.sequencedValues().reversed()) {
				value = torch.tanh(value.mul(parameter).add(parameter));
			}
			return value.sum().mul(new Scalar(rank + 1.0));
		}

	}

	/** Rank 1 has no samples in some steps, and rank 0 none in the first. */
	private static final class Uneven extends Case {

		Uneven() {
			add("a", 20);
			add("b", 20);
		}

		@Override
		Tensor loss(int rank, int step) {
			return (rank == ((step == 0) ? 0 : 1) && step != 2) ? null : sum(this, rank, step);
		}

	}

	private static final class Empty extends Case {

		Empty() {
			add("a", 3);
			add("nothing", 0);
			add("scalar");
		}

		@Override
		Tensor loss(int rank, int step) {
			return sum(this, rank, step);
		}

	}

	/** One parameter larger than a bucket, and one larger than the first bucket. */
	private static final class Large extends Case {

		Large() {
			add("small", 3);
			add("large", 300_001);
			add("other", 5);
		}

		@Override
		Tensor loss(int rank, int step) {
			return sum(this, rank, step);
		}

	}

	/** Two gradients that autograd may write as one tensor. */
	private static final class SharedGradient extends Case {

		final Tensor a = add("a", 2, 3);

		final Tensor b = add("b", 6);

		@Override
		Tensor loss(int rank, int step) {
			return torch.tanh(this.a.view(6).add(this.b)).sum().mul(new Scalar(rank + 1.0));
		}

	}

	/**
	 * A parameter in several places of the graph, and one that is a view in one of them.
	 */
	private static final class Recurrent extends Case {

		final Tensor weight = add("weight", 4, 4);

		final Tensor bias = add("bias", 4);

		@Override
		Tensor loss(int rank, int step) {
			Tensor state = torch.ones(2, 4).mul(new Scalar(0.1 * (rank + 1)));
			for (int time = 0; time < 3 + rank; time++) {
				state = torch.tanh(torch.matmul(state, this.weight.t()).add(this.bias));
			}
			return state.sum().add(this.weight.narrow(0, 1, 2).square().sum());
		}

	}

	/** A penalty on the gradient, which is differentiated again. */
	private static final class GradientPenalty extends Case {

		final Tensor a = add("a", 6);

		final Tensor b = add("b", 6);

		@Override
		Tensor loss(int rank, int step) {
			Tensor loss = torch.tanh(this.a.mul(this.b).mul(new Scalar(rank + 1.0))).sum();
			Tensor gradient = torch
				.grad(new TensorVector(loss), new TensorVector(this.a), new TensorVector(), new BoolOptional(), true,
						false)
				.get(0);
			return loss.add(gradient.square().sum());
		}

	}

	/** Each rank uses another part of one table in each step. */
	private static final class Lookup extends Case {

		final Tensor table = add("table", 8, 3);

		final Tensor head = add("head", 3);

		@Override
		Tensor loss(int rank, int step) {
			Tensor rows = torch.embedding(this.table, torch.tensor(new long[] { rank, step, step }));
			return torch.tanh(torch.matmul(rows, this.head)).sum();
		}

	}

	private static Tensor sum(Case model, int rank, int step) {
		return model.parameters.values()
			.stream()
			.map((parameter) -> Case.term(parameter, rank, step))
			.reduce((one, other) -> one.add(other))
			.orElseThrow();
	}

	private static final List<Supplier<Case>> CASES = List.of(SeveralTypes::new, HalfOnly::new, ChannelsLast::new,
			Expanded::new, Frozen::new, Unused::new, Alternating::new, Reversed::new, Uneven::new, Empty::new,
			Large::new, SharedGradient::new, Autocast::new, Recurrent::new, GradientPenalty::new, Lookup::new);

	private static Stream<Arguments> cases() {
		return CASES.stream()
			.flatMap((model) -> Stream.of(GradientScaling.values())
				.flatMap((scaling) -> Stream.of(Overlap.ALWAYS, Overlap.NEVER)
					.map((overlap) -> Arguments.of(model.get().getClass().getSimpleName(), model,
							SETTINGS.withScaling(scaling).withOverlap(overlap)))));
	}

	@ParameterizedTest(name = "{0}, {2}")
	@MethodSource("cases")
	void theRanksTrainTheSameParametersAsOneProcess(String name, Supplier<Case> model, DataParallelSettings settings)
			throws Exception {
		List<byte[]> expected = alone(model.get(), settings.scaling());
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(RANKS, LIMIT,
					(rank) -> together(world.group(rank), model.get(), settings));
			assertThat(learnt).allSatisfy((other) -> assertThat(other).containsExactlyElementsOf(expected));
		}
	}

	/** The result of a convolution depends on the number of threads. */
	@BeforeEach
	void useOneThread() {
		IntraOpThreads.set(1);
	}

	@AfterEach
	void useAllThreads() {
		IntraOpThreads.set(Runtime.getRuntime().availableProcessors());
	}

	/** Every case of the table, one after the other, in a group of real processes. */
	@Test
	@Timeout(120)
	void ranksInProcessesOfTheirOwnTrainTheSameParametersAsOneProcess() throws Exception {
		String port = String.valueOf(FreePort.next());
		List<Process> ranks = new ArrayList<>();
		try {
			for (int rank = 0; rank < RANKS; rank++) {
				ProcessBuilder builder = new ProcessBuilder(TestJvm.command(Rank.class))
					.redirectError(ProcessBuilder.Redirect.INHERIT);
				builder.environment()
					.putAll(Map.of("RANK", String.valueOf(rank), "WORLD_SIZE", String.valueOf(RANKS), "LOCAL_RANK",
							String.valueOf(rank), "LOCAL_WORLD_SIZE", String.valueOf(RANKS), "MASTER_ADDR", "127.0.0.1",
							"MASTER_PORT", port));
				ranks.add(builder.start());
			}
			List<String> expected = CASES.stream()
				.map((model) -> hash(alone(model.get(), GradientScaling.AVERAGE)))
				.toList();
			for (Process rank : ranks) {
				try (BufferedReader output = rank.inputReader()) {
					assertThat(output.lines().toList()).containsExactlyElementsOf(expected);
				}
				assertThat(rank.waitFor()).isZero();
			}
		}
		finally {
			ranks.forEach(Process::destroyForcibly);
		}
	}

	/** A rank that prints a line for each case. */
	static final class Rank {

		private Rank() {
		}

		static void main(String[] arguments) {
			IntraOpThreads.set(1);
			try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
				CASES.forEach((model) -> System.out.println(hash(together(group, model.get(), SETTINGS))));
			}
		}

	}

	private static String hash(List<byte[]> values) {
		MessageDigest digest = Sha256.newDigest();
		values.forEach(digest::update);
		return Sha256.hex(digest);
	}

	private static List<byte[]> alone(Case model, GradientScaling scaling) {
		return alone(model, scaling, STEPS);
	}

	private static List<byte[]> alone(Case model, GradientScaling scaling, int steps) {
		for (int step = 0; step < steps; step++) {
			drop(model);
			for (int rank = 0; rank < RANKS; rank++) {
				backward(model, rank, step);
			}
			descend(model, (scaling == GradientScaling.AVERAGE) ? 1.0 / RANKS : 1);
		}
		return values(model);
	}

	private static List<byte[]> together(ProcessGroup group, Case model, DataParallelSettings settings) {
		return together(group, model, settings, STEPS);
	}

	private static List<byte[]> together(ProcessGroup group, Case model, DataParallelSettings settings, int steps) {
		try (DistributedDataParallel replicas = new DistributedDataParallel(group, model.tensors(), settings)) {
			for (int step = 0; step < steps; step++) {
				replicas.zeroGradients();
				backward(model, group.rank(), step);
				replicas.synchronizeGradients();
				descend(model, 1);
			}
		}
		return values(model);
	}

	private static void backward(Case model, int rank, int step) {
		try (PointerScope _ = new PointerScope()) {
			Tensor loss = model.loss(rank, step);
			if (loss != null) {
				loss.backward();
			}
		}
	}

	private static void drop(Case model) {
		model.parameters.values().forEach((parameter) -> parameter.mutable_grad().reset());
	}

	/** An optimizer changes only the parameters that have a gradient. */
	private static void descend(Case model, double factor) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			for (Tensor parameter : model.parameters.values()) {
				Tensor gradient = parameter.grad();
				if (gradient.defined()) {
					parameter.mul_(new Scalar(0.96875));
					parameter.sub_(gradient.mul(new Scalar(factor)).mul(new Scalar(0.125)));
				}
			}
		}
	}

	private static List<byte[]> values(Case model) {
		return model.parameters.values().stream().map(DataParallelCasesTest::bytes).toList();
	}

	@Test
	void tenThousandSmallParametersAreTrained() throws Exception {
		Supplier<Case> many = () -> new Case() {

			{
				for (int index = 0; index < 10_000; index++) {
					this.parameters.put("p" + index,
							torch.full(new long[] { 3 }, new Scalar(0.001 * index)).set_requires_grad(true));
				}
			}

			@Override
			Tensor loss(int rank, int step) {
				TensorVector all = new TensorVector(this.parameters.values().toArray(new Tensor[0]));
				return term(torch.cat(all), rank, step);
			}

		};
		DataParallelSettings settings = DataParallelSettings.defaults()
			.withOverlap(Overlap.ALWAYS)
			.withBucketBytes(8192);
		List<byte[]> expected = alone(many.get(), GradientScaling.AVERAGE, 2);
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(RANKS, LIMIT,
					(rank) -> together(world.group(rank), many.get(), settings, 2));
			assertThat(learnt).allSatisfy((other) -> assertThat(other).containsExactlyElementsOf(expected));
		}
	}

	@Test
	void aParameterThatNoRankUsesHasNoGradientAndOneThatSomeRankUsesHas() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Unused model = new Unused();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					for (int step = 0; step < 3; step++) {
						replicas.zeroGradients();
						backward(model, rank, step);
						replicas.synchronizeGradients();
						assertThat(model.never.grad().defined()).isFalse();
						assertThat(model.partly.grad().defined()).isTrue();
					}
				}
				return null;
			});
		}
	}

	/** Autograd copies a gradient that anything else refers to, and so for each hook. */
	@Test
	void theHooksDoNotMakeAutogradCopyTheGradients() {
		List<Long> computed = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS);
				Tensor weight = torch.ones(16, 16).requires_grad_(true);
				VoidTensorHook hook = new VoidTensorHook() {

					@Override
					public void call(TensorBase gradient) {
						try (gradient) {
							computed.add(gradient.data_ptr().address());
						}
					}

				}) {
			weight.register_hook(hook);
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0),
					ModelTensors.of(Map.of("weight", weight)), SETTINGS)) {
				torch.linear(torch.ones(4, 16), weight).sum().backward();
				assertThat(computed).containsExactly(TensorMemory.address(weight.grad()));
				replicas.synchronizeGradients();
				assertThat(computed).containsExactly(TensorMemory.address(weight.grad()));
			}
		}
	}

	/** A TorchScript model is read from a file and is not a {@code Module}. */
	@Test
	void aTorchScriptModelIsTrained(@TempDir Path directory) throws Exception {
		String file = directory.resolve("model.pt").toString();
		JitModule source = new JitModule(new QualifiedName("__torch__.Scripted"));
		source.register_parameter("weight", torch.full(new long[] { 3 }, new Scalar(0.25)).set_requires_grad(true),
				false);
		source.register_buffer("shift", torch.ones(3));
		source.define("def forward(self, x):\n    return (x * self.weight + self.shift).tanh().sum()\n");
		source.save(file);
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<byte[]> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
				JitModule model = torch.load(file);
				ModelTensors tensors = ModelTensors.of(model);
				assertThat(tensors.parameters().keySet()).containsExactly("weight");
				assertThat(tensors.buffers().keySet()).containsExactly("shift");
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), tensors,
						SETTINGS)) {
					model.forward(new IValueVector(new IValue(torch.full(new long[] { 3 }, new Scalar(1.0 + rank)))))
						.toTensor()
						.backward();
					replicas.synchronizeGradients();
					return bytes(tensors.parameters().get("weight").grad());
				}
			});
			assertThat(gradients.get(1)).isEqualTo(gradients.get(0));
			Tensor alone = torch.full(new long[] { 3 }, new Scalar(0.25)).set_requires_grad(true);
			for (int rank = 0; rank < RANKS; rank++) {
				torch.tanh(alone.mul(new Scalar(1.0 + rank)).add(new Scalar(1.0))).sum().backward();
			}
			assertThat(gradients.get(0)).isEqualTo(bytes(alone.grad().div(new Scalar(2.0))));
		}
	}

	@Test
	void aWrappedModelCanBeWrappedAgain() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(RANKS, LIMIT, (rank) -> {
				SeveralTypes model = new SeveralTypes();
				together(world.group(rank), model, SETTINGS);
				return together(world.group(rank), model, SETTINGS.withBucketBytes(1024));
			});
			SeveralTypes alone = new SeveralTypes();
			alone(alone, GradientScaling.AVERAGE);
			List<byte[]> expected = alone(alone, GradientScaling.AVERAGE);
			assertThat(learnt).allSatisfy((other) -> assertThat(other).containsExactlyElementsOf(expected));
		}
	}

	@Test
	void gradientsThatAreSummedOnTopOfTheLastStepFailOnEveryRank() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Case model = new Large();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withScaling(GradientScaling.SUM))) {
					backward(model, rank, 0);
					replicas.synchronizeGradients();
					if (rank == 0) {
						replicas.zeroGradients();
					}
					backward(model, rank, 1);
					assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
						.withMessageContaining("added to the sum of the step before")
						.withMessageContaining("zeroGradients()");
					backward(model, rank, 2);
					replicas.synchronizeGradients();
				}
				return null;
			});
		}
	}

	@Test
	void averagedGradientsMayAccumulateOverSteps() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<byte[]> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
				HalfOnly model = new HalfOnly();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					for (int step = 0; step < 2; step++) {
						Case.term(model.parameters.get("only"), 0, 0).backward();
						replicas.synchronizeGradients();
					}
					return bytes(model.parameters.get("only").grad());
				}
			});
			HalfOnly alone = new HalfOnly();
			Case.term(alone.parameters.get("only"), 0, 0).backward();
			Case.term(alone.parameters.get("only"), 0, 0).backward();
			assertThat(gradients)
				.allSatisfy((other) -> assertThat(other).isEqualTo(bytes(alone.parameters.get("only").grad())));
		}
	}

	@Test
	void aGradientThatTheProgramReplacesDuringItsReductionIsReported() throws Exception {
		whileReduced((replicas, replaced) -> {
			replaced.mutable_grad().reset();
			assertReplaced(replicas);
		});
		whileReduced((replicas, replaced) -> {
			replaced.mutable_grad().put(torch.ones(20));
			assertReplaced(replicas);
		});
	}

	private static void assertReplaced(DistributedDataParallel replicas) {
		assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
			.withMessageContaining("parameter b of shape 20")
			.withMessageContaining("replaced or dropped between the backward pass");
	}

	/** {@code clip_grad_norm_} leaves no trace in the version of a gradient. */
	@Test
	void aGradientCannotBeChangedDuringItsReduction() throws Exception {
		whileReduced((replicas, reduced) -> {
			try (TensorVector clipped = new TensorVector(reduced)) {
				assertUnwritable(() -> torch.clip_grad_norm_(clipped, 0.1));
			}
			assertUnwritable(() -> reduced.grad().mul_(new Scalar(2.0)));
			assertUnwritable(() -> reduced.grad().data().mul_(new Scalar(2.0)));
			assertThat(reduced.grad().isnan().all().item_bool()).isTrue();
			replicas.synchronizeGradients();
			assertThat(reduced.grad().isnan().any().item_bool()).isFalse();
			reduced.grad().mul_(new Scalar(2.0));
		});
	}

	private static void assertUnwritable(ThrowableAssert.ThrowingCallable change) {
		assertThatThrownBy(change).isInstanceOf(RuntimeException.class)
			.hasMessageContaining("refers to a single memory location");
	}

	/** Without a stride of zero, libtorch does not refuse the change. */
	@Test
	void aGradientOfOneElementThatIsChangedDuringItsReductionIsNoticed() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			Case model = new Case() {

				@Override
				Tensor loss(int rank, int step) {
					return this.parameters.get("scale").mul(this.parameters.get("b")).sum();
				}

			};
			model.add("b", 20);
			model.add("scale", 1);
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), model.tensors(),
					SETTINGS)) {
				backward(model, 0, 0);
				model.parameters.get("scale").grad().zero_();
				assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
					.withMessageContaining("parameter scale of shape 1")
					.withMessageContaining("replaced or dropped between the backward pass");
			}
		}
	}

	@Test
	void zeroGradientsDropsThoseOfParametersWithoutElementsToo() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			Case model = new Empty();
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), model.tensors(),
					SETTINGS)) {
				model.parameters.get("nothing").mutable_grad().put(torch.empty(0));
				replicas.zeroGradients();
				assertThat(model.parameters.get("nothing").grad().defined()).isFalse();
			}
		}
	}

	/** Otherwise only the optimizers of some ranks would count a step of it. */
	@Test
	void aParameterWithoutElementsHasNoGradientOnAnyRank() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Case model = new Empty();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					if (rank == 0) {
						backward(model, rank, 0);
						assertThat(model.parameters.get("nothing").grad().defined()).isTrue();
					}
					replicas.synchronizeGradients();
					assertThat(model.parameters.get("nothing").grad().defined()).isFalse();
					assertThat(model.parameters.get("a").grad().defined()).isTrue();
				}
				return null;
			});
		}
	}

	private static Stream<Arguments> sharedGradients() {
		return Stream.of(GradientScaling.values())
			.flatMap((scaling) -> Stream.of(Overlap.NEVER, Overlap.ALWAYS)
				.flatMap((overlap) -> Stream.of((long) Float.BYTES, DataParallelSettings.defaults().bucketBytes())
					.map((bytes) -> Arguments.of(scaling, overlap, bytes))));
	}

	@ParameterizedTest
	@MethodSource("sharedGradients")
	void oneTensorThatIsTheGradientOfTwoParametersIsReducedOnceForEach(GradientScaling scaling, Overlap overlap,
			long bucketBytes) throws Exception {
		double expected = (scaling == GradientScaling.SUM) ? 3 : 1.5;
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Uneven model = new Uneven();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						DataParallelSettings.defaults()
							.withScaling(scaling)
							.withOverlap(overlap)
							.withBucketBytes(bucketBytes))) {
					try (Tensor shared = torch.full(new long[] { 20 }, new Scalar(1.0 + rank))) {
						model.parameters.values().forEach((parameter) -> parameter.mutable_grad().put(shared));
					}
					replicas.synchronizeGradients();
					assertThat(model.parameters.values()).allSatisfy((parameter) -> assertThat(
							parameter.grad().equal(torch.full(new long[] { 20 }, new Scalar(expected))))
						.isTrue());
				}
				return null;
			});
		}
	}

	@Test
	void aGradientThatTheProgramHoldsIsReducedInItsPlace() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Frozen model = new Frozen();
				Tensor learning = model.parameters.get("learning");
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS); Tensor held = torch.full(new long[] { 3 }, new Scalar(1.0 + rank))) {
					learning.mutable_grad().put(held);
					replicas.synchronizeGradients();
					assertThat(held.equal(torch.full(new long[] { 3 }, new Scalar(1.5)))).isTrue();
				}
				return null;
			});
		}
	}

	/** Rank 1 has no gradient, and so one without a lazy negation. */
	@Test
	void aLazilyNegatedGradientIsReducedAsItsValues() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Frozen model = new Frozen();
				Tensor learning = model.parameters.get("learning");
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					if (rank == 0) {
						try (Tensor negative = torch.ones(3)) {
							negative._set_neg(true);
							learning.mutable_grad().put(negative);
						}
					}
					replicas.synchronizeGradients();
					assertThat(learning.grad().equal(torch.full(new long[] { 3 }, new Scalar(-0.5)))).isTrue();
				}
				return null;
			});
		}
	}

	@Test
	void aLazilyNegatedBufferOfOneRankIsBroadcastAsItsValues() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Tensor buffer = (rank == 0) ? torch.ones(3)._neg_view() : torch.zeros(3);
				SequencedMap<String, Tensor> buffers = new LinkedHashMap<>(Map.of("buffer", buffer));
				new DistributedDataParallel(world.group(rank),
						new ModelTensors(new Frozen().tensors().parameters(), buffers), SETTINGS)
					.close();
				assertThat(buffer.equal(torch.full(new long[] { 3 }, new Scalar(-1.0)))).isTrue();
				return null;
			});
		}
	}

	/** Acts between a step's backward pass and its end, while b is reduced. */
	private void whileReduced(BiConsumer<DistributedDataParallel, Tensor> action) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<byte[]> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
				Case model = new Uneven();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					backward(model, rank, 2);
					action.accept(replicas, model.parameters.get("b"));
					return bytes(model.parameters.get("b").grad());
				}
			});
			assertThat(gradients).allSatisfy((other) -> assertThat(other).isEqualTo(gradients.getFirst()));
		}
	}

	@Test
	void aSparseGradientIsRejectedByName() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			Case model = new Case() {

				@Override
				Tensor loss(int rank, int step) {
					return torch
						.embedding(this.parameters.get("table"), torch.tensor(new long[] { 0, 2 }), -1, false, true)
						.sum();
				}

			};
			model.add("table", 5, 2);
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), model.tensors(),
					SETTINGS)) {
				backward(model, 0, 0);
				assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
					.withMessageContaining("parameter table of shape 5x2")
					.withMessageContaining("sparse");
			}
		}
	}

	@Test
	void ranksWithDifferentStridesFail() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(RANKS, LIMIT, (rank) -> {
				Tensor weight = torch.ones(2, 3, 2, 2);
				Tensor placed = (rank == 0) ? weight : weight.contiguous(torch.MemoryFormat.ChannelsLast);
				new DistributedDataParallel(world.group(rank),
						ModelTensors.of(Map.of("weight", placed.set_requires_grad(true))), SETTINGS)
					.close();
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
					.hasMessageContaining("2x3x2x2 with strides 12x1x6x3"));
		}
	}

	@Test
	void modelTensorsListsTheNamesOfAModule() {
		LinearImpl layer = new LinearImpl(3, 2);
		layer.register_buffer("seen", torch.ones(1));
		ModelTensors tensors = ModelTensors.of(layer);
		assertThat(new ArrayList<>(tensors.parameters().keySet())).containsExactly("weight", "bias");
		assertThat(tensors.buffers().keySet()).containsExactly("seen");
	}

	/**
	 * Rank 0 makes three passes and rank 1 two; only the last one of each is reduced
	 * early.
	 */
	@ParameterizedTest
	@EnumSource(Overlap.class)
	void passesInsideNoSyncAccumulate(Overlap overlap) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
				Alternating model = new Alternating();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withOverlap(overlap).withScaling(GradientScaling.SUM))) {
					for (int round = 0; round < 2; round++) {
						replicas.zeroGradients();
						try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
							for (int pass = rank; pass < 2; pass++) {
								backward(model, rank, pass);
							}
						}
						backward(model, rank, 2);
						replicas.synchronizeGradients();
					}
					return gradients(model);
				}
			});
			Alternating alone = new Alternating();
			Alternating second = new Alternating();
			for (int pass = 0; pass <= 2; pass++) {
				backward(alone, 0, pass);
				if (pass > 0) {
					backward(second, 1, pass);
				}
			}
			List<byte[]> expected = new ArrayList<>();
			alone.parameters.forEach(
					(name, parameter) -> expected.add(bytes(parameter.grad().add(second.parameters.get(name).grad()))));
			assertThat(gradients).allSatisfy((other) -> assertThat(other).containsExactlyElementsOf(expected));
		}
	}

	/**
	 * Several losses of one graph, for each a backward pass, and gradients of all types
	 * that were computed with a graph of their own.
	 */
	@ParameterizedTest
	@EnumSource(Overlap.class)
	void passesThroughOneGraphAccumulate(Overlap overlap) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
				SeveralTypes model = new SeveralTypes();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withOverlap(overlap).withScaling(GradientScaling.SUM))) {
					for (int step = 0; step < 3; step++) {
						replicas.zeroGradients();
						Tensor loss = model.loss(rank, step);
						try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
							passes(loss);
						}
						loss.backward();
						replicas.synchronizeGradients();
					}
					return gradients(model);
				}
			});
			SeveralTypes alone = new SeveralTypes();
			SeveralTypes second = new SeveralTypes();
			for (SeveralTypes model : List.of(alone, second)) {
				Tensor loss = model.loss((model == alone) ? 0 : 1, 2);
				passes(loss);
				loss.backward();
			}
			List<byte[]> expected = new ArrayList<>();
			alone.parameters.forEach(
					(name, parameter) -> expected.add(bytes(parameter.grad().add(second.parameters.get(name).grad()))));
			assertThat(gradients).allSatisfy((other) -> assertThat(other).containsExactlyElementsOf(expected));
		}
	}

	/**
	 * A penalty of the synchronized gradients, whose values are those of all ranks and
	 * whose graphs are this rank's: gradients of all ranks' penalty are the combination
	 * of both.
	 */
	@ParameterizedTest
	@EnumSource(Overlap.class)
	void synchronizedGradientsCanBeDifferentiated(Overlap overlap) throws Exception {
		for (GradientScaling scaling : GradientScaling.values()) {
			try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
				List<List<float[]>> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
					Alternating model = new Alternating();
					try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
							model.tensors(), SETTINGS.withOverlap(overlap).withScaling(scaling))) {
						for (int step = 0; step < 2; step++) {
							replicas.zeroGradients();
							withGraph(model.loss(rank, step));
							replicas.synchronizeGradients();
							Tensor penalty = penalty(model);
							replicas.zeroGradients();
							penalty.backward();
							replicas.synchronizeGradients();
						}
						return floats(model);
					}
				});
				Alternating alone = new Alternating();
				Tensor loss = alone.loss(0, 1).add(alone.loss(1, 1));
				withGraph((scaling == GradientScaling.SUM) ? loss : loss.mul(new Scalar(1.0 / RANKS)));
				Tensor penalty = penalty(alone);
				alone.parameters.values().forEach((parameter) -> parameter.mutable_grad().reset());
				penalty.backward();
				assertThat(gradients).allSatisfy((own) -> assertClose(own, floats(alone)));
			}
		}
	}

	private static void withGraph(Tensor loss) {
		loss.backward(torch.ones_like(loss), new BoolOptional(true), true, new TensorArrayRefOptional());
	}

	private static Tensor penalty(Case model) {
		return model.parameters.values()
			.stream()
			.map((parameter) -> parameter.grad().square().sum())
			.reduce(Tensor::add)
			.orElseThrow();
	}

	private static List<float[]> floats(Case model) {
		return model.parameters.values()
			.stream()
			.map((parameter) -> TensorMemory.of(parameter.grad()).toArray(ValueLayout.JAVA_FLOAT))
			.toList();
	}

	private static void assertClose(List<float[]> actual, List<float[]> expected) {
		for (int index = 0; index < expected.size(); index++) {
			assertThat(expected.get(index)).isNotEqualTo(new float[expected.get(index).length]);
			assertThat(actual.get(index)).containsExactly(expected.get(index), offset(1e-6f));
		}
	}

	/** A pass that keeps its graph, and one whose gradients have a graph. */
	private static void passes(Tensor loss) {
		Tensor whole = torch.ones_like(loss);
		TensorArrayRefOptional everyInput = new TensorArrayRefOptional();
		loss.mul(new Scalar(0.5)).backward(whole, new BoolOptional(true), false, everyInput);
		loss.square().backward(whole, new BoolOptional(true), true, everyInput);
	}

	@Test
	void noSyncInTheWrongPlaceIsReported() {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			Large model = new Large();
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), model.tensors(),
					SETTINGS)) {
				try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
					assertThatIllegalStateException().isThrownBy(replicas::noSync)
						.withMessageContaining("noSync() was called inside noSync()");
					assertThatIllegalStateException().isThrownBy(replicas::synchronizeGradients)
						.withMessageContaining("synchronizeGradients() was called inside noSync()");
				}
				backward(model, 0, 0);
				assertThatIllegalStateException().isThrownBy(replicas::noSync)
					.withMessageContaining("after a backward pass");
				assertThatIllegalStateException().isThrownBy(() -> replicas.clipGradientNorm(1))
					.withMessageContaining("call synchronizeGradients() first");
				replicas.synchronizeGradients();
				replicas.noSync().close();
				assertThatIllegalArgumentException().isThrownBy(() -> replicas.clipGradientNorm(0))
					.withMessageContaining("more than 0, got 0.0");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void buffersAreBroadcastInEachStepOrOnRequest(boolean eachStep) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> statistics = RankThreads.run(RANKS, LIMIT, (rank) -> {
				BatchNorm1dImpl layer = new BatchNorm1dImpl(new BatchNormOptions(3));
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), layer,
						SETTINGS.withBroadcastsBuffers(eachStep))) {
					for (int step = 0; step < 2; step++) {
						replicas.zeroGradients();
						normalized(layer, rank + 2 * step).backward();
						replicas.synchronizeGradients();
					}
					assertThat(layer.running_mean().get(0).item_float() > 0.3).isEqualTo(!eachStep && rank == 1);
					replicas.broadcastBuffers();
					return List.of(bytes(layer.running_mean()), bytes(layer.running_var()),
							bytes(layer.num_batches_tracked()));
				}
			});
			BatchNorm1dImpl alone = new BatchNorm1dImpl(new BatchNormOptions(3));
			for (int step = 0; step < 2; step++) {
				normalized(alone, 2 * step);
			}
			assertThat(statistics).allSatisfy((rank) -> assertThat(rank).containsExactly(bytes(alone.running_mean()),
					bytes(alone.running_var()), bytes(alone.num_batches_tracked())));
		}
	}

	private static Tensor normalized(BatchNorm1dImpl layer, int sample) {
		Tensor rows = torch.arange(new Scalar(12.0)).view(4, 3).mul(new Scalar(0.1)).add(new Scalar((double) sample));
		return torch.tanh(layer.forward(rows)).sum();
	}

	@Test
	void theGlobalNormIsClippedAsInOneProcess() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> gradients = RankThreads.run(RANKS, LIMIT, (rank) -> {
				SeveralTypes model = new SeveralTypes();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					backward(model, rank, 0);
					replicas.synchronizeGradients();
					double norm = replicas.clipGradientNorm(1);
					assertThat(norm).isGreaterThan(2);
					assertThat(replicas.clipGradientNorm(2)).isBetween(0.99, 1.01);
					try (NoGradGuard _ = new NoGradGuard()) {
						model.parameters.get("double1").grad().fill_(new Scalar(Double.NaN));
					}
					assertThatIllegalStateException().isThrownBy(() -> replicas.clipGradientNorm(1))
						.withMessageContaining("is NaN, first in parameter double1 of shape 5");
					List<byte[]> found = gradients(model);
					found.remove(model.parameters.sequencedKeySet().stream().toList().indexOf("double1"));
					return found;
				}
			});
			SeveralTypes alone = new SeveralTypes();
			backward(alone, 0, 0);
			backward(alone, 1, 0);
			TensorVector all = new TensorVector();
			alone.parameters.values()
				.forEach((parameter) -> all
					.push_back(parameter.grad().to(torch.ScalarType.Double).div(new Scalar(2.0)).view(-1)));
			double norm = torch.cat(all).norm().item_double();
			alone.parameters.values()
				.forEach((parameter) -> parameter.grad().div_(new Scalar(2.0)).mul_(new Scalar(1 / norm)));
			alone.parameters.remove("double1");
			List<byte[]> expected = gradients(alone);
			assertThat(gradients.get(1)).containsExactlyElementsOf(gradients.get(0));
			for (int index = 0; index < expected.size(); index++) {
				assertThat(gradients.get(0).get(index).length).isEqualTo(expected.get(index).length);
			}
			assertThat(gradients.get(0).get(0)).isEqualTo(expected.get(0));
		}
	}

	/** The values and their sums have at most eight significant bits. */
	@ParameterizedTest
	@EnumSource(WireFormat.class)
	void aWireFormatHalvesTheBytes(WireFormat format) throws Exception {
		for (Overlap overlap : List.of(Overlap.ALWAYS, Overlap.NEVER)) {
			try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
				RankThreads.run(RANKS, LIMIT, (rank) -> {
					Case model = new Frozen();
					model.add("single", 40);
					model.add("double", torch.ScalarType.Double, 5);
					model.add("half", torch.ScalarType.Half, 6);
					try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
							model.tensors(), SETTINGS.withHook(format).withOverlap(overlap))) {
						for (int step = 0; step < 3; step++) {
							replicas.zeroGradients();
							Tensor loss = torch.zeros(1);
							for (Tensor parameter : model.parameters.values()) {
								loss = loss.add(parameter.sum().mul(new Scalar(2.0 * rank + 1 + step)));
							}
							loss.backward();
							replicas.synchronizeGradients();
							for (String name : List.of("learning", "single", "double", "half")) {
								Tensor parameter = model.parameters.get(name);
								assertThat(parameter.grad().scalar_type().intern())
									.isEqualTo(parameter.scalar_type().intern());
								assertThat(parameter.grad().eq(new Scalar(2.0 + step)).all().item_bool()).isTrue();
							}
						}
						assertThat(replicas.allReducedBytes()).isEqualTo(3 * 2 * replicas.parameterCount());
					}
					return null;
				});
			}
		}
	}

	/** Sends the gradients of a bucket divided by two. */
	private static final class Halving implements BucketHook {

		private final String name;

		Halving(String name) {
			this.name = name;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public Tensor beforeReduction(Tensor gradients) {
			return this.name.equals("invalid") ? gradients.to(torch.ScalarType.Long) : gradients.div_(new Scalar(2.0));
		}

		@Override
		public void afterReduction(Tensor reduced, Tensor gradients) {
			assertThat(reduced.is_same(gradients)).isTrue();
		}

	}

	@Test
	void aHookChangesTheMemoryOfABucket() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Case model = new ChannelsLast();
				model.add("bias", 4);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withBucketBytes(1024).withHook(new Halving("halving")))) {
					assertThat(replicas.bucketCount()).isEqualTo(1);
					Tensor weight = model.parameters.get("weight");
					Tensor factors = torch.arange(new Scalar(48.0)).view(4, 3, 2, 2);
					weight.mul(factors).sum().add(model.parameters.get("bias").sum()).backward();
					replicas.synchronizeGradients();
					assertThat(weight.grad().equal(factors.div(new Scalar(2.0)))).isTrue();
				}
				return null;
			});
		}
	}

	/** The gradient is reduced in its own memory. */
	@Test
	void aHookMayChangeTheOnlyGradientOfABucket() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				Uneven model = new Uneven();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withHook(new Halving("halving")))) {
					assertThat(replicas.bucketCount()).isEqualTo(2);
					model.parameters.values()
						.stream()
						.map(Tensor::sum)
						.reduce(Tensor::add)
						.orElseThrow()
						.mul(new Scalar(6.0))
						.backward();
					replicas.synchronizeGradients();
					assertThat(model.parameters.values())
						.allSatisfy((one) -> assertThat(one.grad().eq(new Scalar(3.0)).all().item_bool()).isTrue());
				}
				return null;
			});
		}
	}

	@Test
	void ranksWithDifferentHooksFailAndAHookWithoutFloatsAbortsTheGroup() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				assertThatExceptionOfType(ReplicaMismatchException.class)
					.isThrownBy(() -> new DistributedDataParallel(world.group(rank), new Large().tensors(),
							SETTINGS.withHook(new Halving("rank " + rank))))
					.withMessageContaining("hook rank 1");
				Large model = new Large();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withHook(new Halving("invalid")))) {
					backward(model, rank, 0);
					assertThatException().isThrownBy(replicas::synchronizeGradients)
						.withMessageContaining("hook invalid returned a Long tensor");
				}
				return null;
			});
		}
	}

	@Test
	void severalOptimizersTrainPartsOfAModelAsInOneProcess() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(RANKS, LIMIT, (rank) -> {
				Uneven model = new Uneven();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS.withScaling(GradientScaling.SUM))) {
					withTwoOptimizers(model, (step) -> {
						replicas.zeroGradients();
						backward(model, rank, step);
						replicas.synchronizeGradients();
					});
				}
				return values(model);
			});
			Uneven alone = new Uneven();
			withTwoOptimizers(alone, (step) -> {
				drop(alone);
				backward(alone, 0, step);
				backward(alone, 1, step);
			});
			assertThat(learnt).allSatisfy((other) -> assertThat(other).containsExactlyElementsOf(values(alone)));
		}
	}

	/** Three ranks, so that one rank has the large parameter and no other one. */
	@Test
	void aShardedOptimizerTrainsAsAWholeOneWithAPartOfTheStateOnEachRank() throws Exception {
		int ranks = 3;
		Supplier<Case> model = () -> {
			Case many = new Uneven();
			for (int index = 0; index < 5; index++) {
				many.add("more" + index, 3000, 2);
			}
			return many;
		};
		List<Integer> stateBytes = new CopyOnWriteArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(ranks, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(ranks, LIMIT, (rank) -> {
				Case part = model.get();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), part.tensors(),
						SETTINGS.withScaling(GradientScaling.SUM));
						ShardedOptimizer optimizer = new ShardedOptimizer(world.group(rank), part.tensors(),
								(own) -> new Adam(own, new AdamOptions(0.01)))) {
					for (int step = 0; step < STEPS; step++) {
						replicas.zeroGradients();
						sum(part, rank % 2, step).backward();
						replicas.synchronizeGradients();
						optimizer.step();
					}
					assertThat(optimizer.allValues()).isEqualTo(30_040);
					assertThat(optimizer.ownValues()).isBetween(6000L, 12_000L);
					stateBytes.add(CheckpointFixture.archiveBytes(optimizer.local()));
				}
				return values(part);
			});
			Case alone = model.get();
			try (Adam whole = new Adam(new TensorVector(alone.parameters.values().toArray(new Tensor[0])),
					new AdamOptions(0.01))) {
				for (int step = 0; step < STEPS; step++) {
					drop(alone);
					for (int rank = 0; rank < ranks; rank++) {
						sum(alone, rank % 2, step).backward();
					}
					whole.step();
				}
				int all = CheckpointFixture.archiveBytes(whole);
				assertThat(stateBytes).allSatisfy((bytes) -> assertThat(bytes).isLessThan(all / 2));
			}
			assertThat(learnt.get(1)).containsExactlyElementsOf(learnt.get(0));
			assertThat(learnt.get(2)).containsExactlyElementsOf(learnt.get(0));
			List<byte[]> expected = values(alone);
			for (int index = 0; index < expected.size(); index++) {
				assertThat(floats(learnt.get(0).get(index))).containsExactly(floats(expected.get(index)),
						within(1e-5f));
			}
		}
	}

	/** Accumulated and clipped gradients of several types, with a momentum. */
	@Test
	void aShardedOptimizerTakesTheStepsOfAWholeOneToTheLastDigit() throws Exception {
		List<byte[]> whole = accumulatedAndClipped((group, model) -> {
			SGD optimizer = momentum(new TensorVector(model.parameters.values().toArray(new Tensor[0])));
			return optimizer::step;
		});
		List<byte[]> sharded = accumulatedAndClipped(
				(group, model) -> new ShardedOptimizer(group, model.tensors(), DataParallelCasesTest::momentum)::step);
		assertThat(sharded).containsExactlyElementsOf(whole);
	}

	private static SGD momentum(TensorVector parameters) {
		SGDOptions options = new SGDOptions(0.05);
		options.momentum().put(0.9);
		return new SGD(parameters, options);
	}

	private static List<byte[]> accumulatedAndClipped(BiFunction<ProcessGroup, Case, Runnable> optimizer)
			throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(RANKS, LIMIT, (rank) -> {
				Case model = new SeveralTypes();
				Runnable update = optimizer.apply(world.group(rank), model);
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), model.tensors(),
						SETTINGS)) {
					for (int step = 0; step < STEPS; step++) {
						replicas.zeroGradients();
						try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
							backward(model, rank, step);
						}
						backward(model, rank, step + 1);
						replicas.synchronizeGradients();
						assertThat(replicas.clipGradientNorm(0.5)).isGreaterThan(0.5);
						update.run();
					}
				}
				return values(model);
			});
			assertThat(learnt.get(1)).containsExactlyElementsOf(learnt.get(0));
			assertThat(learnt.get(0)).isNotEqualTo(values(new SeveralTypes()));
			return learnt.get(0);
		}
	}

	/** More ranks than parameters: a rank without a part only receives. */
	@Test
	void aRankWithoutAPartOfTheOptimizerGetsTheParameters() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, TIMEOUTS)) {
			List<List<byte[]>> learnt = RankThreads.run(RANKS, LIMIT, (rank) -> {
				Case one = new HalfOnly();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), one.tensors(),
						SETTINGS);
						ShardedOptimizer optimizer = new ShardedOptimizer(world.group(rank), one.tensors(),
								(own) -> new SGD(own, new SGDOptions(0.5)))) {
					assertThat(optimizer.local() == null).isEqualTo(rank == 1);
					backward(one, rank, 0);
					replicas.synchronizeGradients();
					optimizer.step();
				}
				return values(one);
			});
			assertThat(learnt.get(1)).containsExactlyElementsOf(learnt.get(0));
			assertThat(learnt.get(1)).isNotEqualTo(values(new HalfOnly()));
		}
	}

	@Test
	void aShardedOptimizerIsRefusedInAnElasticGroup() {
		ProcessGroup elastic = (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, _) -> switch (method.getName()) {
					case "isElastic" -> true;
					case "backend" -> "tcp";
					case "rank" -> 1;
					case "worldSize" -> 2;
					default -> throw new UnsupportedOperationException(method.getName());
				});
		assertThatThrownBy(() -> new ShardedOptimizer(elastic, new HalfOnly().tensors(),
				(own) -> new SGD(own, new SGDOptions(0.5))))
			.isInstanceOfSatisfying(BackendUnavailableException.class,
					(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
			.hasMessageContainingAll("rank 1", "ZeRO-1", "tutti.elastic.min-ranks")
			.hasMessageNotContaining("backend tcp is not available");
	}

	private static float[] floats(byte[] bytes) {
		return MemorySegment.ofArray(bytes).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
	}

	private static void withTwoOptimizers(Case model, IntConsumer gradients) {
		try (Adam adam = new Adam(new TensorVector(model.parameters.get("a")), new AdamOptions(0.01));
				SGD sgd = new SGD(new TensorVector(model.parameters.get("b")), new SGDOptions(0.1))) {
			for (int step = 0; step < STEPS; step++) {
				gradients.accept(step);
				adam.step();
				sgd.step();
			}
		}
	}

	/** The layer computes in bfloat16 and keeps its float32 parameters. */
	private static final class Autocast extends Case {

		final Tensor weight = add("weight", 4, 8);

		final Tensor bias = add("bias", 4);

		@Override
		Tensor loss(int rank, int step) {
			Tensor rows = torch.arange(new Scalar(16.0)).view(2, 8).mul(new Scalar(0.01 * (rank + 1)));
			torch.set_autocast_dtype(torch.DeviceType.CPU, torch.ScalarType.BFloat16);
			torch.set_autocast_enabled(torch.DeviceType.CPU, true);
			torch.increment_nesting();
			try {
				Tensor output = torch.linear(rows, this.weight, new TensorOptional(this.bias));
				assertThat(output.scalar_type().intern()).isEqualTo(torch.ScalarType.BFloat16);
				return torch.tanh(output).to(torch.ScalarType.Float).sum();
			}
			finally {
				if (torch.decrement_nesting() == 0) {
					torch.clear_cache();
				}
				torch.set_autocast_enabled(torch.DeviceType.CPU, false);
			}
		}

	}

	private static byte[] bytes(Tensor tensor) {
		try (Tensor values = tensor.contiguous()) {
			return TensorMemory.of(values).toArray(ValueLayout.JAVA_BYTE);
		}
	}

	private static List<byte[]> gradients(Case model) {
		return new ArrayList<>(model.parameters.values().stream().map((parameter) -> bytes(parameter.grad())).toList());
	}

}
