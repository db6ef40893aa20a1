package io.tutti.training;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Device;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Mistakes in programs that use {@link DistributedDataParallel}. Each ends with a message
 * of its own on every rank, and none with other numbers or a rank that waits.
 */
@Timeout(60)
@SharesLibtorch
class DataParallelMisuseTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(20));

	private static final DataParallelSettings SETTINGS = DataParallelSettings.defaults()
		.withOverlap(Overlap.ALWAYS)
		.withBucketBytes(64);

	/** One rank's program. */
	private interface Program {

		void run(ProcessGroup group, SequencedMap<String, Tensor> parameters) throws Exception;

	}

	/** Steps with a wrapper. */
	private interface Steps {

		void run(DistributedDataParallel replicas, SequencedMap<String, Tensor> parameters, int rank);

	}

	private record Misuse(String name, int ranks, Program program, String... messages) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	private static Stream<Misuse> misuses() {
		return Stream.of(wrapped("no synchronization in a step", 1, (replicas, parameters, rank) -> {
			backward(parameters, rank);
			replicas.zeroGradients();
		}, "zeroGradients() was called between a backward pass and synchronizeGradients()",
				"call synchronizeGradients() first"),
				wrapped("no synchronization at all", 2, (_, parameters, rank) -> backward(parameters, rank),
						"closed without any synchronizeGradients()", "call it after the last backward pass"),
				wrapped("a second backward pass on one rank", 2, (replicas, parameters, rank) -> {
					backward(parameters, rank);
					if (rank == 1) {
						backward(parameters, rank);
					}
					replicas.synchronizeGradients();
				}, "made a second backward pass before synchronizeGradients()", "noSync()"),
				wrapped("the optimizer's step before the synchronization", 2, (replicas, parameters, rank) -> {
					try (TensorVector all = new TensorVector(parameters.get("a"), parameters.get("b"));
							SGD optimizer = new SGD(all, new SGDOptions(0.1))) {
						backward(parameters, rank);
						optimizer.step();
						replicas.synchronizeGradients();
					}
				}, "does not have the same values on all ranks in the first step",
						"make the optimizer's step after synchronizeGradients()"),
				wrapped("noSync inside noSync", 1, (replicas, _, _) -> {
					try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
						replicas.noSync();
					}
				}, "noSync() was called inside noSync()", "close the first scope"),
				wrapped("noSync after a backward pass", 1, (replicas, parameters, rank) -> {
					backward(parameters, rank);
					replicas.noSync();
				}, "noSync() was called after a backward pass", "all backward passes of a step but the last"),
				wrapped("synchronization inside noSync", 1, (replicas, parameters, rank) -> {
					try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
						backward(parameters, rank);
						replicas.synchronizeGradients();
					}
				}, "synchronizeGradients() was called inside noSync()", "close the scope"),
				wrapped("clipping before the synchronization", 1, (replicas, parameters, rank) -> {
					backward(parameters, rank);
					replicas.clipGradientNorm(1);
				}, "clipGradientNorm() was called between a backward pass", "call synchronizeGradients() first"),
				wrapped("clipping after noSync alone", 2, (replicas, parameters, rank) -> {
					try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
						backward(parameters, rank);
					}
					replicas.clipGradientNorm(1);
				}, "clipGradientNorm() was called between a backward pass", "call synchronizeGradients() first"),
				wrapped("clipping to nothing", 1, (replicas, _, _) -> replicas.clipGradientNorm(0),
						"the largest norm must be finite and more than 0, got 0.0"),
				wrapped("a gradient that is not a number on one rank", 2, (replicas, parameters, rank) -> {
					torch.mul(parameters.get("b"), new Scalar((rank == 1) ? Double.NaN : 1)).sum().backward();
					replicas.synchronizeGradients();
					replicas.clipGradientNorm(1);
				}, "the norm of the gradients is NaN, first in parameter b of shape 20", "check the samples"),
				wrapped("a gradient replaced while it is reduced", 1, (replicas, parameters, rank) -> {
					backward(parameters, rank);
					parameters.get("b").mutable_grad().put(torch.ones(20));
					replicas.synchronizeGradients();
				}, "the gradient of parameter b of shape 20 was replaced or dropped",
						"change gradients after synchronizeGradients()"),
				keptSum(false), keptSum(true), keptOnOneRank(false, true), keptOnOneRank(true, true),
				keptOnOneRank(true, false), wrapped("a parameter is unfrozen", 1, (replicas, parameters, _) -> {
					parameters.get("frozen").requires_grad_(true);
					replicas.synchronizeGradients();
				}, "parameter frozen of shape 2 required no gradient when it was wrapped", "wrap the model again"),
				wrapped("a parameter is frozen on one rank", 2, (replicas, parameters, rank) -> {
					for (int step = 0; step < 3; step++) {
						parameters.get("b").set_requires_grad(step == 0 || rank == 0);
						replicas.zeroGradients();
						backward(parameters, rank);
						replicas.synchronizeGradients();
					}
				}, "parameter b of shape 20 requires no gradient any more on this rank, but has one on another",
						"on every rank or on none"),
				wrapped("values loaded on one rank", 2, (replicas, parameters, rank) -> {
					if (rank == 0) {
						parameters.get("frozen").fill_(new Scalar(3.0));
					}
					backward(parameters, rank);
					replicas.synchronizeGradients();
				}, "parameter frozen of shape 2 does not have the same values on all ranks",
						"before the model is wrapped"),
				new Misuse("a part of a module is replaced", 2, (group, _) -> {
					Module model = new Module();
					LinearImpl head = model.register_module("head", new LinearImpl(3, 2));
					try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, SETTINGS)) {
						head.forward(torch.ones(2, 3)).sum().backward();
						replicas.synchronizeGradients();
						replicas.zeroGradients();
						model.unregister_module("head");
						LinearImpl other = model.register_module("head", new LinearImpl(3, 2));
						other.forward(torch.ones(2, 3)).sum().backward();
						replicas.synchronizeGradients();
					}
				}, "parameter head.weight of shape 2x3 was added or replaced after the model was wrapped",
						"wrap the model again"),
				new Misuse("a part is added to a module", 2, (group, _) -> {
					Module model = new Module();
					LinearImpl body = model.register_module("body", new LinearImpl(3, 3));
					try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, SETTINGS)) {
						LinearImpl head = model.register_module("head", new LinearImpl(3, 2));
						head.forward(body.forward(torch.ones(2, 3))).sum().backward();
						replicas.synchronizeGradients();
					}
				}, "parameter head.weight of shape 2x3 was added or replaced after the model was wrapped",
						"wrap the model again"),
				new Misuse("a part is added to a module after a step", 2, (group, _) -> {
					Module model = new Module();
					LinearImpl body = model.register_module("body", new LinearImpl(3, 3));
					try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, SETTINGS)) {
						body.forward(torch.ones(2, 3)).sum().backward();
						replicas.synchronizeGradients();
						LinearImpl head = model.register_module("head", new LinearImpl(3, 2));
						replicas.zeroGradients();
						head.forward(body.forward(torch.ones(2, 3))).sum().backward();
						replicas.synchronizeGradients();
					}
				}, "parameter head.weight of shape 2x3 was added or replaced after the model was wrapped",
						"wrap the model again"),
				new Misuse("an idle part of a module is replaced", 2, (group, _) -> {
					Module model = new Module();
					LinearImpl body = model.register_module("body", new LinearImpl(3, 3));
					model.register_module("expert", new LinearImpl(3, 2));
					try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, SETTINGS)) {
						body.forward(torch.ones(2, 3)).sum().backward();
						replicas.synchronizeGradients();
						model.unregister_module("expert");
						LinearImpl other = model.register_module("expert", new LinearImpl(3, 2));
						replicas.zeroGradients();
						other.forward(body.forward(torch.ones(2, 3))).sum().backward();
						replicas.synchronizeGradients();
					}
				}, "parameter expert.weight of shape 2x3 was added or replaced after the model was wrapped",
						"wrap the model again"),
				new Misuse("a frozen part is added to a module and learns later", 2, (group, _) -> {
					Module model = new Module();
					LinearImpl body = model.register_module("body", new LinearImpl(3, 3));
					try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, SETTINGS)) {
						LinearImpl head = model.register_module("head", new LinearImpl(3, 2));
						for (int step = 0; step < 3; step++) {
							head.weight().set_requires_grad(step == 2);
							head.bias().set_requires_grad(step == 2);
							replicas.zeroGradients();
							head.forward(body.forward(torch.ones(2, 3))).sum().backward();
							replicas.synchronizeGradients();
						}
					}
				}, "parameter head.weight of shape 2x3 was added or replaced after the model was wrapped",
						"wrap the model again"),
				new Misuse("a frozen part of a module is replaced by one that learns", 2, (group, _) -> {
					Module model = new Module();
					LinearImpl body = model.register_module("body", new LinearImpl(3, 3));
					LinearImpl frozen = model.register_module("head", new LinearImpl(3, 2));
					frozen.weight().set_requires_grad(false);
					frozen.bias().set_requires_grad(false);
					try (DistributedDataParallel replicas = new DistributedDataParallel(group, model, SETTINGS)) {
						frozen.forward(body.forward(torch.ones(2, 3))).sum().backward();
						replicas.synchronizeGradients();
						model.unregister_module("head");
						LinearImpl other = model.register_module("head", new LinearImpl(3, 2));
						replicas.zeroGradients();
						other.forward(body.forward(torch.ones(2, 3))).sum().backward();
						replicas.synchronizeGradients();
					}
				}, "parameter head.weight of shape 2x3 was added or replaced after the model was wrapped",
						"wrap the model again"),
				new Misuse("a step after a failed one", 1, (group, parameters) -> {
					try (DistributedDataParallel replicas = new DistributedDataParallel(group,
							ModelTensors.of(parameters), SETTINGS.withOverlap(Overlap.NEVER).withBucketBytes(1024))) {
						backward(parameters, 0);
						replicas.synchronizeGradients();
						group.abort("a test");
						assertThatExceptionOfType(CollectiveException.class).isThrownBy(replicas::synchronizeGradients);
						replicas.zeroGradients();
						backward(parameters, 0);
						replicas.synchronizeGradients();
					}
				}, "an earlier synchronizeGradients() failed", "wrap the model again"),
				new Misuse("a buffer that learns", 1, (group, parameters) -> {
					SequencedMap<String, Tensor> buffers = new LinkedHashMap<>();
					buffers.put("scale", torch.ones(4).set_requires_grad(true));
					new DistributedDataParallel(group, new ModelTensors(parameters, buffers), SETTINGS).close();
				}, "buffer scale of shape 4 requires a gradient", "register it as a parameter"),
				wrapped("a parameter becomes float64", 2, (replicas, parameters, rank) -> {
					parameters.get("a").set_data(parameters.get("a").detach().to(torch.ScalarType.Double));
					backward(parameters, rank);
					replicas.synchronizeGradients();
				}, "parameter a of shape 20 was float32 when it was wrapped and is float64 now",
						"close this DistributedDataParallel and wrap the model again"),
				wrapped("a parameter gets another shape", 2, (replicas, parameters, rank) -> {
					parameters.get("a").set_data(torch.ones(5));
					backward(parameters, rank);
					replicas.synchronizeGradients();
				}, "parameter a of shape 5 had shape 20 when it was wrapped", "wrap the model again"),
				new Misuse("a model is wrapped twice", 2, (group, parameters) -> {
					try (DistributedDataParallel _ = new DistributedDataParallel(group, ModelTensors.of(parameters),
							SETTINGS)) {
						wrap(group, parameters);
					}
				}, "parameter a of shape 20 is wrapped by another DistributedDataParallel", "close that one first"),
				new Misuse("two models whose reductions overlap in one group", 2, (group, parameters) -> {
					try (DistributedDataParallel _ = new DistributedDataParallel(group, ModelTensors.of(parameters),
							SETTINGS)) {
						wrap(group, parameters());
					}
				}, "another DistributedDataParallel of this group overlaps", "a group of its own (group.split)"),
				new Misuse("two models whose reductions overlap in one group with two labels", 2,
						(group, parameters) -> {
							try (DistributedDataParallel _ = new DistributedDataParallel(group.withLabel("actor"),
									ModelTensors.of(parameters), SETTINGS)) {
								wrap(group.withLabel("critic"), parameters());
							}
						}, "another DistributedDataParallel of this group overlaps",
						"a group of its own (group.split)"),
				wrapped("a sparse gradient", 1, (replicas, parameters, _) -> {
					Tensor table = parameters.get("table");
					torch.embedding(table, torch.tensor(new long[] { 0, 2 }), -1, false, true).sum().backward();
					replicas.synchronizeGradients();
				}, "the gradient of parameter table of shape 5x2 is sparse", "use the layer without sparse gradients"),
				wrapped("after close", 1, (replicas, _, _) -> {
					replicas.close();
					replicas.zeroGradients();
				}, "this DistributedDataParallel is closed"),
				new Misuse("a type that is not reduced", 1, (group, _) -> {
					wrap(group, Map.of("x", torch.ones(3).to(torch.ScalarType.ComplexFloat).requires_grad_(true)));
				}, "must be float32, float64, float16 or bfloat16, got parameter x of shape 3 of type ComplexFloat"),
				new Misuse("a computed parameter", 1,
						(group, parameters) -> wrap(group,
								Map.of("x", torch.mul(parameters.get("a"), new Scalar(2.0)))),
						"parameter x of shape 20 is computed from another tensor", "detach it"),
				new Misuse("an expanded parameter", 1,
						(group, _) -> wrap(group, Map.of("x", torch.ones(1).expand(5).requires_grad_(true))),
						"elements of tensor x of shape 5 share memory or may do so, by its strides 0", "a clone"),
				new Misuse("nothing to train", 1, (group, _) -> wrap(group, Map.of("x", torch.ones(3))),
						"the model has no parameter that requires a gradient"),
				new Misuse("parameters in another order", 2, (group, parameters) -> {
					SequencedMap<String, Tensor> order = new LinkedHashMap<>(parameters);
					wrap(group, (group.rank() == 1) ? order.reversed() : order);
				}, "the replicas differ: rank 1 holds", "tensor 1 is table", "tensor 1 is a"),
				new Misuse("a divided optimizer of parameters in another order", 2, (group, parameters) -> {
					SequencedMap<String, Tensor> order = new LinkedHashMap<>(parameters);
					divided(group, (group.rank() == 1) ? order.reversed() : order);
				}, "the replicas differ: rank 1 holds", "tensor 1 is table", "tensor 1 is a"),
				new Misuse("a divided optimizer without a parameter on one rank", 2, (group, parameters) -> {
					SequencedMap<String, Tensor> part = new LinkedHashMap<>(parameters);
					if (group.rank() == 1) {
						part.remove("b");
					}
					divided(group, part);
				}, "the replicas differ: rank 1 holds 2 tensors of 30 values",
						"but rank 0 holds 3 tensors of 50 values"),
				new Misuse("a parameter frozen on one rank", 2, (group, parameters) -> {
					parameters.get("b").requires_grad_(group.rank() == 0);
					wrap(group, parameters);
				}, "the replicas differ: rank 1 holds", "b Float fixed 20", "b Float 20"),
				new Misuse("other settings on one rank", 2,
						(group, parameters) -> new DistributedDataParallel(group, ModelTensors.of(parameters),
								SETTINGS.withBucketBytes(64L << group.rank())),
						"the replicas differ: rank 1 holds", "buckets of 128 bytes", "buckets of 64 bytes"));
	}

	/** Fails on rank 1. */
	private record FailingHook(int rank, HookMistake mistake) implements BucketHook {

		@Override
		public String name() {
			return "failing";
		}

		@Override
		public Tensor beforeReduction(Tensor gradients) {
			if (this.rank == 1 && this.mistake == HookMistake.BEFORE) {
				throw new IllegalArgumentException("no room for the bucket");
			}
			return (this.rank == 1 && this.mistake == HookMistake.NOTHING) ? null : gradients;
		}

		@Override
		public void afterReduction(Tensor reduced, Tensor gradients) {
			if (this.rank == 1 && this.mistake == HookMistake.AFTER) {
				throw new IllegalStateException("no room for the result");
			}
		}

	}

	/**
	 * A step that adds to the sum of the step before.
	 * @param scaled whether the program has changed it in place
	 */
	private static Misuse keptSum(boolean scaled) {
		return new Misuse("a sum is kept, scaled: " + scaled, 2, (group, parameters) -> {
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, ModelTensors.of(parameters),
					SETTINGS.withScaling(GradientScaling.SUM))) {
				backward(parameters, group.rank());
				replicas.synchronizeGradients();
				if (scaled) {
					scaleGradients(parameters);
				}
				backward(parameters, group.rank());
				replicas.synchronizeGradients();
			}
		}, "added to the sum of the step before", "call zeroGradients() before");
	}

	/**
	 * A step in which rank 0 keeps the gradients of the step before, and rank 1 drops
	 * them.
	 * @param scaled whether the program has changed them in place
	 * @param adds whether rank 0 has samples in the step
	 */
	private static Misuse keptOnOneRank(boolean scaled, boolean adds) {
		String name = "gradients are kept on one rank only, scaled: " + scaled + ", added to: " + adds;
		return wrapped(name, 2, (replicas, parameters, rank) -> {
			backward(parameters, rank);
			replicas.synchronizeGradients();
			if (scaled) {
				scaleGradients(parameters);
			}
			if (rank == 1) {
				replicas.zeroGradients();
			}
			if (rank == 1 || adds) {
				backward(parameters, rank);
			}
			replicas.synchronizeGradients();
		}, "some ranks added to the gradients of the step before, and others had dropped them",
				"call zeroGradients() on every rank or on none");
	}

	private static Misuse wrapped(String name, int ranks, Steps steps, String... messages) {
		return new Misuse(name, ranks, (group, parameters) -> {
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, ModelTensors.of(parameters),
					SETTINGS)) {
				steps.run(replicas, parameters, group.rank());
			}
		}, messages);
	}

	private static void divided(ProcessGroup group, Map<String, Tensor> parameters) {
		try (ShardedOptimizer optimizer = new ShardedOptimizer(group, ModelTensors.of(parameters),
				(own) -> new SGD(own, new SGDOptions(0.1)))) {
			optimizer.step();
		}
	}

	private static void wrap(ProcessGroup group, Map<String, Tensor> parameters) {
		new DistributedDataParallel(group, ModelTensors.of(parameters), SETTINGS).close();
	}

	@ParameterizedTest
	@MethodSource("misuses")
	void everyRankFailsWithTheReasonAndTheRemedy(Misuse misuse) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(misuse.ranks(), TIMEOUTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(misuse.ranks(), LIMIT, (rank) -> {
				misuse.program().run(world.group(rank), parameters());
				return null;
			});
			assertThat(outcomes).allSatisfy(
					(outcome) -> assertThat(outcome.failure()).isNotNull().hasMessageContainingAll(misuse.messages()));
		}
	}

	/** What is wrong with a hook, and how the other ranks see it. */
	private enum HookMistake {

		BEFORE("hook failing failed before the reduction of the bucket of parameter table of shape 5x2:"
				+ " java.lang.IllegalArgumentException: no room for the bucket"),

		NOTHING("hook failing returned null before the reduction of the bucket of parameter table of shape 5x2"),

		AFTER("hook failing failed after the reduction of the bucket of parameter table of shape 5x2:"
				+ " java.lang.IllegalStateException: no room for the result");

		private final String message;

		HookMistake(String message) {
			this.message = message;
		}

	}

	@ParameterizedTest
	@EnumSource
	void theOtherRanksSeeWhichHookFailedAndWhere(HookMistake mistake) throws Exception {
		requireNamed(mistake, Overlap.NEVER);
		requireNamed(mistake, Overlap.ALWAYS);
	}

	private static void requireNamed(HookMistake mistake, Overlap overlap) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> parameters = parameters();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
						ModelTensors.of(parameters),
						SETTINGS.withOverlap(overlap).withHook(new FailingHook(rank, mistake)))) {
					backward(parameters, rank);
					replicas.synchronizeGradients();
				}
				return null;
			});
			assertThat(outcomes.getFirst().failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("rank 1: ")
				.hasMessageContaining(mistake.message);
			assertThat(outcomes.getLast().failure()).isNotNull().isNotInstanceOf(CollectiveException.class);
		}
	}

	private static SequencedMap<String, Tensor> parameters() {
		SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();
		parameters.put("a", torch.full(new long[] { 20 }, new Scalar(0.5)).requires_grad_(true));
		parameters.put("b", torch.full(new long[] { 20 }, new Scalar(0.25)).requires_grad_(true));
		parameters.put("frozen", torch.ones(2));
		parameters.put("table", torch.ones(5, 2).requires_grad_(true));
		return parameters;
	}

	/** In place, so that the gradients are no new tensors. */
	private static void scaleGradients(Map<String, Tensor> parameters) {
		try (NoGradGuard _ = new NoGradGuard()) {
			parameters.values()
				.stream()
				.map(Tensor::mutable_grad)
				.filter(Tensor::defined)
				.forEach((gradient) -> gradient.mul_(new Scalar(0.5)));
		}
	}

	private static void backward(Map<String, Tensor> parameters, int rank) {
		try (PointerScope _ = new PointerScope()) {
			Tensor loss = torch.zeros(1);
			for (String name : List.of("a", "b", "table")) {
				loss = loss.add(torch.tanh(parameters.get(name).mul(new Scalar(1.0 + rank))).sum());
			}
			loss.sum().backward();
		}
	}

	@Test
	void backwardPassesOfDifferentParametersAreOneStep() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> parameters = parameters();
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
						ModelTensors.of(parameters), SETTINGS)) {
					for (int step = 0; step < 3; step++) {
						replicas.zeroGradients();
						parameters.get("table").mul(new Scalar(1.0 + rank)).sum().backward();
						parameters.get("a").add(parameters.get("b")).mul(new Scalar(3.0 + rank)).sum().backward();
						replicas.synchronizeGradients();
						assertThat(parameters.get("table").grad().mean().item_float()).isEqualTo(1.5f);
						assertThat(parameters.get("a").grad().mean().item_float()).isEqualTo(3.5f);
						assertThat(parameters.get("b").grad().mean().item_float()).isEqualTo(3.5f);
					}
				}
				return null;
			});
		}
	}

	/**
	 * After a wrapper has been closed or could not be created, the model can be wrapped.
	 */
	@Test
	void aModelCanBeWrappedAgainAfterAFailure() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> parameters = parameters();
				List<Throwable> failures = new ArrayList<>();
				try {
					new DistributedDataParallel(world.group(rank), ModelTensors.of(parameters),
							SETTINGS.withBucketBytes(64L << rank))
						.close();
				}
				catch (ReplicaMismatchException ex) {
					failures.add(ex);
				}
				assertThat(failures).hasSize(1);
				for (int round = 0; round < 2; round++) {
					wrap(world.group(rank), parameters);
				}
				return null;
			});
		}
	}

	/**
	 * Two models of the same shapes. Rank 1 does not use the parameter of the first whose
	 * gradient is the first to be complete, so that its reductions start later.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void twoModelsKeepTheirGradientsApart(boolean split) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> one = parameters();
				SequencedMap<String, Tensor> other = parameters();
				ProcessGroup group = world.group(rank);
				ProcessGroup second = split ? group.split(0, rank) : group;
				DataParallelSettings settings = SETTINGS.withOverlap(split ? Overlap.ALWAYS : Overlap.AUTOMATIC);
				try (DistributedDataParallel first = new DistributedDataParallel(group, ModelTensors.of(one), settings);
						DistributedDataParallel last = new DistributedDataParallel(second, ModelTensors.of(other),
								settings)) {
					for (int step = 0; step < 3; step++) {
						first.zeroGradients();
						last.zeroGradients();
						Tensor loss = torch.zeros(1);
						for (String name : List.of("a", "b", "table")) {
							loss = loss.add(other.get(name).mul(new Scalar(10.0)).sum());
						}
						loss = loss.add(one.get("a").sum()).add(one.get("b").sum());
						(rank == 1 ? loss : loss.add(one.get("table").sum())).backward();
						first.synchronizeGradients();
						last.synchronizeGradients();
						assertThat(one.get("a").grad().mean().item_float()).isEqualTo(1);
						assertThat(one.get("b").grad().mean().item_float()).isEqualTo(1);
						assertThat(other.get("a").grad().mean().item_float()).isEqualTo(10);
						assertThat(other.get("b").grad().mean().item_float()).isEqualTo(10);
					}
				}
				finally {
					if (split) {
						second.close();
					}
				}
				return null;
			});
		}
	}

	/** A scope that is closed twice does not end a later one. */
	@Test
	void closingAScopeAgainDoesNotEndTheNext() {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			SequencedMap<String, Tensor> parameters = parameters();
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0),
					ModelTensors.of(parameters), SETTINGS)) {
				DistributedDataParallel.NoSync first = replicas.noSync();
				first.close();
				try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
					first.close();
					backward(parameters, 0);
					backward(parameters, 0);
				}
				backward(parameters, 0);
				replicas.synchronizeGradients();
			}
		}
	}

	/**
	 * A gradient that the optimizer has dropped may be followed by one at the same
	 * address, which is not that of the step before. One that it sets to zero is the same
	 * tensor.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void gradientsThatTheOptimizerDropsAreNotTakenForThoseOfTheStepBefore(boolean toNone) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				LinearImpl layer = new LinearImpl(8, 8);
				try (TensorVector parameters = layer.parameters();
						SGD optimizer = new SGD(parameters, new SGDOptions(0.01));
						DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank), layer,
								SETTINGS.withScaling(GradientScaling.SUM))) {
					for (int step = 0; step < 300; step++) {
						try (PointerScope _ = new PointerScope()) {
							optimizer.zero_grad(toNone);
							layer.forward(torch.ones(2, 8)).square().mean().backward();
							replicas.synchronizeGradients();
							optimizer.step();
						}
					}
				}
				return null;
			});
		}
	}

	/** Those of the step before are kept on every rank, or on none. */
	@ParameterizedTest
	@CsvSource({ "true, AVERAGE", "false, SUM", "false, AVERAGE" })
	void scaledGradientsAreKeptOrDroppedAlsoWhereARankHasNoSamples(boolean kept, GradientScaling scaling)
			throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();
				parameters.put("w", torch.ones(4).requires_grad_(true));
				Tensor weight = parameters.get("w");
				try (PointerScope _ = new PointerScope();
						DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
								ModelTensors.of(parameters), SETTINGS.withScaling(scaling))) {
					weight.mul(new Scalar(4)).sum().backward();
					replicas.synchronizeGradients();
					scaleGradients(parameters);
					double before = weight.grad().get(0).item_float();
					if (!kept) {
						// What a pass adds to them is dropped with them.
						try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
							weight.sum().backward();
						}
						try (NoGradGuard _ = new NoGradGuard()) {
							weight.mutable_grad().zero_();
						}
					}
					if (rank == 0) {
						weight.mul(new Scalar(6)).sum().backward();
					}
					replicas.synchronizeGradients();
					double expected = (scaling == GradientScaling.SUM) ? 6 : 3 + (kept ? before : 0);
					assertThat(weight.grad().eq(new Scalar(expected)).all().item_bool()).isTrue();
				}
				return null;
			});
		}
	}

	/** Otherwise the parameters could not be wrapped again. */
	@Test
	void anErrorLeavesTheModelUnwrapped() {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			ModelTensors model = ModelTensors.of(parameters());
			assertThatThrownBy(() -> new DistributedDataParallel(world.group(0), model, null, SETTINGS, 0, (_) -> {
				throw new OutOfMemoryError("test");
			})).isInstanceOf(OutOfMemoryError.class);
			new DistributedDataParallel(world.group(0), model, SETTINGS).close();
		}
	}

	/** Its address is not one of main memory. */
	@Test
	void aTensorOnAnotherDeviceIsNotTakenFromAHook() {
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			SequencedMap<String, Tensor> parameters = parameters();
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0),
					ModelTensors.of(parameters), SETTINGS.withOverlap(Overlap.NEVER).withHook(new MovingHook()))) {
				backward(parameters, 0);
				assertThatThrownBy(replicas::synchronizeGradients).isInstanceOf(IllegalStateException.class)
					.hasMessageContaining("hook moving returned a Float tensor of shape")
					.hasMessageContaining("on meta:0, but it must be contiguous, of a float type and on cpu");
			}
		}
	}

	/** Sends tensors of a device without memory. */
	private record MovingHook() implements BucketHook {

		@Override
		public String name() {
			return "moving";
		}

		@Override
		public Tensor beforeReduction(Tensor gradients) {
			try (Device meta = new Device("meta")) {
				return gradients.to(meta, torch.ScalarType.Float);
			}
		}

		@Override
		public void afterReduction(Tensor reduced, Tensor gradients) {
			gradients.copy_(reduced);
		}

	}

	@Test
	void closingAfterAFailedReductionFreesTheTensorsOfTheHook() {
		List<Tensor> sent = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS)) {
			SequencedMap<String, Tensor> parameters = parameters();
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0),
					ModelTensors.of(parameters), SETTINGS.withOverlap(Overlap.NEVER).withHook(new CopyingHook(sent)))) {
				backward(parameters, 0);
				world.group(0).abort("test");
				assertThatThrownBy(replicas::synchronizeGradients).isInstanceOf(CollectiveException.class);
			}
		}
		assertThat(sent).isNotEmpty().allSatisfy((copy) -> assertThat(copy.use_count()).isEqualTo(1));
	}

	/** Sends copies and keeps a reference to each. */
	private record CopyingHook(List<Tensor> sent) implements BucketHook {

		@Override
		public String name() {
			return "copying";
		}

		@Override
		public Tensor beforeReduction(Tensor gradients) {
			Tensor copy = gradients.clone();
			copy.retainReference();
			this.sent.add(copy);
			return copy;
		}

		@Override
		public void afterReduction(Tensor reduced, Tensor gradients) {
			gradients.copy_(reduced);
		}

	}

	@Test
	void aFailedFactoryOfADividedOptimizerLeavesNoReferencesToTheParameters() {
		SequencedMap<String, Tensor> parameters = parameters();
		long before = parameters.get("a").use_count();
		try (SimulatedWorld world = new SimulatedWorld(1, TIMEOUTS); PointerScope _ = new PointerScope()) {
			assertThatThrownBy(() -> new ShardedOptimizer(world.group(0), ModelTensors.of(parameters), (_) -> {
				throw new IllegalArgumentException("test");
			})).hasMessage("test");
		}
		assertThat(parameters.get("a").use_count()).isEqualTo(before);
	}

	@Test
	void anErrorOfADividedOptimizerFailsTheOtherRanks() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				try (ShardedOptimizer optimizer = new ShardedOptimizer(world.group(rank), ModelTensors.of(parameters()),
						(own) -> (rank == 0) ? new SGD(own, new SGDOptions(0.1)) : new SGD(own, new SGDOptions(0.1)) {
							@Override
							public Tensor step() {
								throw new OutOfMemoryError("test");
							}
						})) {
					optimizer.step();
				}
				return null;
			});
			assertThat(outcomes.get(0).failure())
				.hasMessageContaining("rank 1: the optimizer failed: java.lang.OutOfMemoryError: test");
			assertThat(outcomes.get(1).failure()).isInstanceOf(OutOfMemoryError.class);
		}
	}

}
