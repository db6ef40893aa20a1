package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.ModelTensors;
import io.tutti.training.ShardedOptimizer;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TrainingDevice;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Adagrad;
import org.bytedeco.pytorch.AdagradOptions;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OptimizerParamGroup;
import org.bytedeco.pytorch.OptimizerParamGroupVector;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Checkpoints of an optimizer that is divided among the ranks, and jobs that continue
 * from them with other numbers of ranks.
 */
@Timeout(120)
@SharesLibtorch
class ShardedCheckpointTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final JobFingerprint JOB = new JobFingerprint(List.of());

	private static final int STEPS = 3;

	private static final int SAVED_AFTER = 2;

	@TempDir
	private Path directory;

	@BeforeAll
	static void prepare() {
		NativeLibraryPreparation.prepare();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 5, 7 })
	void aDividedOptimizerContinuesWithAnyNumberOfRanks(int ranks) throws Exception {
		runDivided(3, 0, SAVED_AFTER);
		Map<String, byte[]> saved = newest();
		assertThat(saved).containsKeys("optimizer.exp_avg.p0", "optimizer.exp_avg_sq.p4", "optimizer.step.p2",
				"optimizer.group.0.lr");
		assertThat(saved).hasSize(5 + 5 * 4 + 5);
		runDivided(ranks, SAVED_AFTER, STEPS);
		assertSame(newest(), expected());
	}

	@Test
	void aWholeOptimizerContinuesFromADividedOneAndTheOtherWayRound() throws Exception {
		runDivided(3, 0, 1);
		runWhole(1, SAVED_AFTER);
		runDivided(2, SAVED_AFTER, STEPS);
		assertSame(newest(), expected());
	}

	/**
	 * As many programs do: weights with decay in one group, other parameters without
	 * decay in another, if there are any. The first rank has one group, the second
	 * another one or both.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "64,8", "64,16,8", "64,16,8,8" })
	void eachParameterKeepsTheOptionsOfItsGroup(String sizes) throws Exception {
		groupedStep(2, sizes, 0);
		for (int ranks : new int[] { 2, 1, 3 }) {
			groupedStep(ranks, sizes, 0.5);
		}
		Map<String, byte[]> divided = newest();
		assertThat(divided.keySet()).filteredOn((name) -> name.endsWith(".weight_decay")).hasSize(2);
		Path shared = this.directory;
		this.directory = shared.resolve("alone");
		for (int step = 0; step < 4; step++) {
			groupedStep(1, sizes, (step == 0) ? 0 : 0.5);
		}
		Map<String, byte[]> alone = newest();
		this.directory = shared;
		alone.forEach((name, bytes) -> {
			if (!name.startsWith("optimizer.group")) {
				assertThat(divided.get(name)).as(name).isEqualTo(bytes);
			}
		});
	}

	/**
	 * Continues from the newest checkpoint by one step of SGD with groups of its own.
	 * @param change added to the decay with which the optimizer is created, but not to
	 * that of the checkpoint
	 */
	private void groupedStep(int ranks, String sizes, double change) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(ranks, Timeouts.DEFAULTS)) {
			RankThreads.run(ranks, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				Map<String, Tensor> parameters = matricesAndVectors(sizes);
				ModelTensors model = ModelTensors.of(parameters);
				try (ShardedOptimizer optimizer = new ShardedOptimizer(group, model,
						(own) -> grouped(own, 0.1 + change, change));
						CheckpointStore store = store(group,
								new ModelState(group, model, optimizer, TrainingDevice.CPU))) {
					long from = stepOf(store.restore());
					assertDecay(optimizer.local());
					gradients(parameters, from);
					optimizer.step();
					store.save(new Progress(from + 1, 0, 0));
					store.finish();
				}
				group.barrier();
				return null;
			});
		}
	}

	private static void assertDecay(@Nullable Optimizer optimizer) {
		OptimizerParamGroupVector groups = (optimizer != null) ? optimizer.param_groups()
				: new OptimizerParamGroupVector();
		for (long index = 0; index < groups.size(); index++) {
			double expected = (groups.get(index).params().get(0).dim() > 1) ? 0.1 : 0;
			assertThat(new SGDOptions(groups.get(index).options()).weight_decay().get()).isEqualTo(expected);
		}
	}

	private static SGD grouped(TensorVector parameters, double decay, double otherDecay) {
		SGDOptions options = new SGDOptions(0.05);
		options.momentum().put(0.9);
		SGD optimizer = null;
		for (boolean matrices : new boolean[] { true, false }) {
			TensorVector own = new TensorVector(Arrays.stream(parameters.get())
				.filter((tensor) -> (tensor.dim() > 1) == matrices)
				.toArray(Tensor[]::new));
			if (own.empty()) {
				continue;
			}
			if (optimizer == null) {
				optimizer = new SGD(own, options);
			}
			else {
				optimizer.add_param_group(new OptimizerParamGroup(own));
			}
			OptimizerParamGroupVector groups = optimizer.param_groups();
			new SGDOptions(groups.get(groups.size() - 1).options()).weight_decay().put(matrices ? decay : otherDecay);
		}
		return optimizer;
	}

	/** Matrices of a multiple of 16 values, and vectors. */
	private static Map<String, Tensor> matricesAndVectors(String sizes) {
		Map<String, Tensor> parameters = new LinkedHashMap<>();
		for (String size : sizes.split(",")) {
			int count = Integer.parseInt(size);
			Tensor values = torch.arange(new Scalar(count)).to(torch.ScalarType.Float).div(new Scalar(7));
			parameters.put("p" + parameters.size(),
					((count % 16 == 0) ? values.view(16, -1) : values).requires_grad_(true));
		}
		return parameters;
	}

	/** Adagrad creates the state of all its parameters before the first step. */
	@Test
	void aWholeOptimizerMayHoldFrozenParametersToo() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = withFrozen();
				ModelTensors model = ModelTensors.of(parameters);
				try (ShardedOptimizer optimizer = new ShardedOptimizer(world.group(rank), model,
						(own) -> new Adagrad(own, new AdagradOptions(0.1)));
						CheckpointStore store = store(world.group(rank),
								new ModelState(world.group(rank), model, optimizer, TrainingDevice.CPU))) {
					store.restore();
					store.save(new Progress(1, 0, 0));
				}
				world.group(rank).barrier();
				return null;
			});
		}
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = withFrozen();
			try (Optimizer optimizer = new Adagrad(new TensorVector(parameters.values().toArray(new Tensor[0])),
					new AdagradOptions(0.2));
					CheckpointStore store = store(world.group(0),
							new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
				assertThat(stepOf(store.restore())).isEqualTo(1);
				assertThat(optimizer.param_groups().get(0).options().get_lr()).isEqualTo(0.1);
			}
		}
	}

	private static Map<String, Tensor> withFrozen() {
		Map<String, Tensor> parameters = parameters();
		parameters.put("frozen", torch.ones(3));
		return parameters;
	}

	/** A rank keeps no more than its own part in memory. */
	@Test
	void onlyRankZeroReceivesTheOtherRanksParts() throws Exception {
		long part = (1 << 18) * 2L * Float.BYTES;
		try (SimulatedWorld world = new SimulatedWorld(3, Timeouts.DEFAULTS)) {
			List<Long> received = RankThreads.run(3, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = new LinkedHashMap<>();
				for (int index = 0; index < 3; index++) {
					parameters.put("p" + index, torch.ones(1 << 18).requires_grad_(true));
				}
				ModelTensors model = ModelTensors.of(parameters);
				AtomicLong bytes = new AtomicLong();
				ProcessGroup group = counting(world.group(rank), bytes);
				try (ShardedOptimizer optimizer = new ShardedOptimizer(world.group(rank), model,
						ShardedCheckpointTest::adam);
						CheckpointStore store = store(group,
								new ModelState(group, model, optimizer, TrainingDevice.CPU))) {
					store.restore();
					gradients(parameters, 0);
					optimizer.step();
					bytes.set(0);
					store.save(new Progress(1, 0, 0));
					long own = bytes.get();
					store.finish();
					world.group(rank).barrier();
					return own;
				}
			});
			assertThat(received.getFirst()).isGreaterThan(2 * part);
			assertThat(received.subList(1, 3)).allSatisfy((bytes) -> assertThat(bytes).isLessThan(part / 10));
		}
	}

	/** A group that counts the bytes that a checkpoint's calls give this rank. */
	private static ProcessGroup counting(ProcessGroup group, AtomicLong bytes) {
		return (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, arguments) -> {
					MemorySegment received = switch (method.getName()) {
						case "broadcast" ->
							((int) arguments[2] != group.rank()) ? (MemorySegment) arguments[0] : MemorySegment.NULL;
						case "allGather", "gather" -> (MemorySegment) arguments[1];
						default -> MemorySegment.NULL;
					};
					bytes.addAndGet(received.byteSize());
					try {
						return method.invoke(group, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/** More ranks than parameters: some have no part. */
	@Test
	void ranksWithoutAPartSaveAndContinue() throws Exception {
		runDivided(7, 0, SAVED_AFTER);
		runDivided(6, SAVED_AFTER, STEPS);
		assertSame(newest(), expected());
	}

	/** The second checkpoint finds that the first could not be written. */
	@Test
	void aFailedWriteOfRankZeroFailsTheNextCheckpointOnEveryRankAtOnce() throws Exception {
		List<RankThreads.Outcome<Void>> outcomes = saves(3, (rank, store, _) -> {
			store.restore();
			if (rank == 0) {
				Files.createDirectory(this.directory.resolve("step-00000001.0.tmp"));
			}
			store.save(new Progress(1, 0, 0));
			assertThatThrownBy(() -> store.save(new Progress(2, 0, 0)))
				.isInstanceOfSatisfying(CheckpointException.class, (ex) -> {
					assertThat(ex.isKnownToAll()).isTrue();
					assertThat(ex.exitCode()).as("as if poll() had found it").isEqualTo(ExitCode.INTERNAL);
				})
				.hasMessageContainingAll("rank 0 failed: cannot write checkpoint of step 1", "Free space");
			if (rank == 0) {
				Files.deleteIfExists(this.directory.resolve("step-00000001.0.tmp"));
			}
			store.save(new Progress(3, 0, 0));
			store.finish();
		});
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
		assertThat(CheckpointFixture.list(this.directory)).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void aRankThatCannotCopyItsPartFailsTheCheckpointOnEveryRankAtOnce(int broken) throws Exception {
		List<RankThreads.Outcome<Void>> outcomes = saves(3, (rank, store, state) -> {
			store.restore();
			if (rank == broken) {
				state.close();
			}
			store.save(new Progress(1, 0, 0));
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("rank " + broken + " failed: java.lang.IllegalStateException: Already closed")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.INTERNAL));
	}

	@Test
	void closingReportsThatTheLastCheckpointCouldNotBeWritten() throws Exception {
		alone((store) -> {
			store.restore();
			Files.createDirectory(this.directory.resolve("step-00000001.0.tmp"));
			store.save(new Progress(1, 0, 0));
			assertThatThrownBy(store::close).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("cannot write checkpoint of step 1");
		});
	}

	/** Otherwise the next one would replace the copy that is still being written. */
	@Test
	void anInterruptedWaitLeavesTheCheckpointPending() throws Exception {
		List<SavedCheckpoint> saved = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			// Writing it takes far longer than the way to finish().
			Map<String, Tensor> parameters = Map.of("large", torch.zeros(1 << 23).requires_grad_(true));
			try (Optimizer optimizer = adam(new TensorVector(parameters.get("large")));
					CheckpointStore store = new CheckpointStore(world.group(0),
							new CheckpointOptions(this.directory, 0, 9), JOB,
							new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU), saved::add,
							0)) {
				store.open();
				Thread.currentThread().interrupt();
				store.save(new Progress(1, 0, 0));
				assertThatThrownBy(store::finish).isInstanceOf(CheckpointException.class)
					.hasMessageContaining("interrupted");
				assertThat(Thread.interrupted()).isTrue();
				assertThat(saved).isEmpty();
				store.save(new Progress(2, 0, 0));
				assertThat(saved).singleElement().satisfies((first) -> assertThat(first.step()).isEqualTo(1));
			}
		}
		assertThat(saved).hasSize(2);
	}

	/** libtorch negates only when values are read. */
	@Test
	void theValuesOfALazilyNegatedBufferAreSavedAndRestored() throws Exception {
		SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();
		parameters.put("weight", torch.ones(2).requires_grad_(true));
		SequencedMap<String, Tensor> buffers = new LinkedHashMap<>();
		buffers.put("negative", torch.ones(3)._neg_view());
		ModelTensors model = new ModelTensors(parameters, buffers);
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
				Optimizer optimizer = adam(new TensorVector(parameters.get("weight")))) {
			try (CheckpointStore store = store(world.group(0), new ModelState(model, optimizer, TrainingDevice.CPU))) {
				store.open();
				store.save(new Progress(1, 0, 0));
			}
			try (CheckpointStore store = store(world.group(0), new ModelState(model, optimizer, TrainingDevice.CPU))) {
				assertThat(stepOf(store.restore())).isEqualTo(1);
			}
		}
		assertThat(buffers.get("negative").equal(torch.full(new long[] { 3 }, new Scalar(-1.0)))).isTrue();
	}

	/** Its state would have no name by which it could be restored. */
	@Test
	void anOptimizerOfATensorThatIsNoParameterOfTheModelIsRefused() {
		Map<String, Tensor> parameters = parameters();
		TensorVector more = new TensorVector(parameters.values().toArray(new Tensor[0]));
		more.push_back(torch.ones(2, 3).requires_grad_(true));
		try (Optimizer optimizer = adam(more)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))
				.withMessage("the optimizer updates a tensor of shape 2x3 that is no parameter of the model");
		}
	}

	/** Otherwise a part of its values would be those of an earlier checkpoint. */
	@Test
	void aModelWhoseTypeHasChangedIsNotSaved() throws Exception {
		Map<String, Tensor> parameters = parameters();
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
				Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
				CheckpointStore store = store(world.group(0),
						new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
			store.restore();
			parameters.get("p1").set_data(parameters.get("p1").to(torch.ScalarType.Half));
			assertThatIllegalStateException().isThrownBy(() -> store.save(new Progress(1, 0, 0)))
				.withMessageContaining("the model's p1 has become F16 7 instead of F32 7");
		}
		assertThat(CheckpointFixture.list(this.directory)).isEmpty();
	}

	/** It would change the copy that the store's thread still writes. */
	@Test
	void theStateOfAStoreIsCopiedByThatStoreOnly() throws Exception {
		Map<String, Tensor> parameters = parameters();
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
				Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
				ModelState state = new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU)) {
			StateBroadcast earlier = new StateBroadcast(state, () -> state);
			assertThat(earlier.digest("")).hasSize(Sha256.BYTES);
			try (CheckpointStore _ = store(world.group(0), state)) {
				for (ThrowingCallable use : List.<ThrowingCallable>of(() -> earlier.digest(""),
						() -> new StateBroadcast(state, () -> state), () -> store(world.group(0), state))) {
					assertThatIllegalStateException().isThrownBy(use)
						.withMessageContaining("a CheckpointStore uses this ModelState");
				}
			}
		}
	}

	/** Both would continue from the checkpoint of one of them. */
	@Test
	void ranksOfDifferentJobsRestoreNothing() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			List<RankThreads.Outcome<Progress>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = parameters();
				try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
						CheckpointStore store = new CheckpointStore(world.group(rank),
								new CheckpointOptions(this.directory, 0, 1),
								JOB.with("batch", 8).with("seed of the data", rank),
								new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU), (_) -> {
								}, 0)) {
					return store.restore();
				}
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
					.hasMessage(
							"the ranks' jobs differ: rank 1 has seed of the data 1, but rank 0 has seed of the data 0")
					.returns(ExitCode.BAD_CONFIGURATION, ExitCode::of));
		}
	}

	@Test
	void aDirectoryInUseIsRefusedWithTheSameCodeByOpenAndRestore() throws Exception {
		try (Closeable _ = CheckpointFixture.lock(this.directory)) {
			for (Consumer<CheckpointStore> start : List.<Consumer<CheckpointStore>>of(CheckpointStore::open,
					CheckpointStore::restore)) {
				alone((store) -> assertThatThrownBy(() -> start.accept(store)).isInstanceOf(CheckpointException.class)
					.hasMessageContaining("is in use by another job")
					.extracting(ExitCode::of)
					.isEqualTo(ExitCode.BAD_CONFIGURATION));
			}
		}
	}

	@Test
	void anInterruptDoesNotEndTheWaitOfACloseForTheWrite() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			// Writing it takes far longer than the way to close().
			Map<String, Tensor> parameters = Map.of("large", torch.zeros(1 << 23).requires_grad_(true));
			try (Optimizer optimizer = adam(new TensorVector(parameters.get("large")))) {
				CheckpointStore store = store(world.group(0),
						new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU));
				store.open();
				store.save(new Progress(1, 0, 0));
				Thread.currentThread().interrupt();
				store.close();
				assertThat(Thread.interrupted()).isTrue();
			}
		}
		CheckpointFixture.lock(this.directory).close();
		assertThat(CheckpointFixture.list(this.directory)).hasSize(1);
	}

	@Test
	void eachCheckpointNeedsALaterStepUnlessOneHasFailed() throws Exception {
		alone((store) -> {
			assertThatIllegalStateException().isThrownBy(() -> store.save(new Progress(2, 0, 0)))
				.withMessageContaining("call restore() or open()");
			store.open();
			store.save(new Progress(2, 0, 0));
			assertThatIllegalArgumentException().isThrownBy(() -> store.save(new Progress(2, 0, 0)))
				.withMessageContaining("there is a checkpoint of step 2; the next one needs a later step");
			Path obstacle = Files.createDirectory(this.directory.resolve("step-00000003.0.tmp"));
			store.save(new Progress(3, 0, 0));
			assertThatThrownBy(store::finish).isInstanceOf(CheckpointException.class);
			Files.deleteIfExists(obstacle);
			store.save(new Progress(3, 0, 0));
			store.close();
		});
		alone((store) -> {
			assertThat(stepOf(store.restore())).isEqualTo(3);
			for (long step : new long[] { 1, 3 }) {
				assertThatIllegalArgumentException().isThrownBy(() -> store.save(new Progress(step, 0, 0)))
					.withMessageContaining("there is a checkpoint of step 3; the next one needs a later step");
			}
			store.save(new Progress(4, 0, 0));
			store.close();
		});
		assertThat(CheckpointFixture.list(this.directory)).hasSize(3);
	}

	/** Runs a test with a store of a model whose optimizer is not divided. */
	private void withStore(ProcessGroup group, Map<String, Tensor> parameters, Consumer<CheckpointStore> test) {
		try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
				CheckpointStore store = store(group,
						new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
			test.accept(store);
		}
	}

	/** Also the ranks that write nothing. */
	@Test
	void everyRankRefusesACheckpointOfAnEarlierStep() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				withStore(world.group(rank), parameters(), (store) -> {
					store.open();
					store.save(new Progress(2, 0, 0));
					for (long step = 1; step <= 2; step++) {
						Progress progress = new Progress(step, 0, 0);
						assertThatIllegalArgumentException().isThrownBy(() -> store.save(progress))
							.withMessageContaining("there is a checkpoint of step 2; the next one needs a later step");
					}
					store.save(new Progress(3, 0, 0));
				});
				return null;
			});
		}
		assertThat(CheckpointFixture.steps(this.directory)).containsExactly(3L, 2L);
	}

	/** A model may hold another optimizer's state, as one that learns to optimize. */
	@Test
	void aTensorOfTheModelMayHaveTheNameOfOneOfTheOptimizer() throws Exception {
		for (long step = 0; step < 2; step++) {
			long from = step;
			Map<String, Tensor> parameters = new LinkedHashMap<>(
					Map.of("weight", torch.ones(3).requires_grad_(true), "optimizer.exp_avg.weight", torch.ones(3)));
			try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
					Optimizer optimizer = adam(new TensorVector(parameters.get("weight")));
					ModelState state = new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU);
					CheckpointStore store = store(world.group(0), state)) {
				assertThat(stepOf(store.restore())).isEqualTo(from);
				state.stage(() -> {
				}, true);
				try (PointerScope _ = new PointerScope()) {
					assertThat(state.stagedOptimizer())
						.filteredOn((tensor) -> tensor.header().name().equals("optimizer.exp_avg.weight"))
						.allSatisfy((tensor) -> assertThat(tensor.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0))
							.isNotEqualTo(1));
				}
				gradients(Map.of("weight", parameters.get("weight")), step);
				optimizer.step();
				store.save(new Progress(step + 1, 0, 0));
			}
		}
	}

	/** libtorch writes the state of such a parameter as a part without bytes. */
	@Test
	void theStateOfAParameterWithoutElementsIsSavedAndRestored() throws Exception {
		for (long step = 0; step < 2; step++) {
			long from = step;
			Map<String, Tensor> parameters = parameters();
			parameters.put("empty", torch.empty(0).requires_grad_(true));
			try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
					Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
					ModelState state = new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU);
					CheckpointStore store = store(world.group(0), state)) {
				assertThat(stepOf(store.restore())).isEqualTo(from);
				gradients(parameters, step);
				optimizer.step();
				store.save(new Progress(step + 1, 0, 0));
			}
		}
		assertThat(newest()).containsKeys("optimizer.exp_avg.empty", "optimizer.exp_avg.p0");
	}

	/** Its optimizer has other options than that of rank 0. */
	@Test
	void aRankThatCannotTakeTheCheckpointFailsItOnEveryRank() throws Exception {
		runWhole(0, 1);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = parameters();
				TensorVector all = new TensorVector(parameters.values().toArray(new Tensor[0]));
				try (Optimizer optimizer = (rank == 1) ? new SGD(all, new SGDOptions(0.1)) : adam(all);
						CheckpointStore store = store(world.group(rank),
								new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
					store.restore();
				}
				return null;
			});
			assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure())
				.isInstanceOfSatisfying(CheckpointException.class, (ex) -> assertThat(ex.isKnownToAll()).isTrue())
				.hasMessageContainingAll(
						"rank 1 failed: cannot continue from checkpoint " + this.directory.resolve("step-00000001"),
						"there is no optimizer.group.0.")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.BAD_CONFIGURATION));
		}
	}

	/** Rank 0 notices it while the other ranks wait for the data. */
	@Test
	void aCheckpointThatIsDamagedAtItsEndChangesNoRank() throws Exception {
		runWhole(0, 1);
		Path last = CheckpointFixture.list(this.directory).getFirst().resolve("optimizer-00001-of-00001.safetensors");
		byte[] content = Files.readAllBytes(last);
		content[content.length - 1] ^= 1;
		Files.write(last, content);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = parameters();
				withStore(world.group(rank), parameters, (store) -> {
					assertThatThrownBy(store::restore)
						.isInstanceOfSatisfying(CheckpointException.class,
								(ex) -> assertThat(ex.isKnownToAll()).isTrue())
						.hasMessageContainingAll(
								"rank 0 failed: cannot continue from checkpoint " + last.getParent() + ": ",
								"the SHA-256 of " + last.getFileName() + " does not match",
								"move this checkpoint away to continue from the one before it")
						.extracting(ExitCode::of)
						.isEqualTo(ExitCode.BAD_CONFIGURATION);
				});
				parameters().forEach((name, tensor) -> assertThat(parameters.get(name).equal(tensor)).isTrue());
				world.group(rank).barrier();
				return null;
			});
		}
	}

	/** libtorch cannot remove the state of a parameter. */
	@Test
	void anOptimizerWithAStateThatTheCheckpointLacksIsRefused() throws Exception {
		alone((store) -> {
			store.restore();
			store.save(new Progress(1, 0, 0));
			store.close();
		});
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = parameters();
			try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
					CheckpointStore store = store(world.group(0),
							new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
				gradients(parameters, 0);
				optimizer.step();
				assertThatThrownBy(store::restore).isInstanceOf(CheckpointException.class)
					.hasMessageContainingAll("the optimizer has a state of p0, which the other state lacks",
							"restore into a new optimizer");
			}
		}
	}

	/** Otherwise an elastic job could go on from a mixture of two models. */
	@ParameterizedTest
	@ValueSource(ints = { 3, 5, 8, 20 })
	void aRestoreThatEndsBeforeAllTensorsHaveArrivedChangesNone(int broadcasts) throws Exception {
		runWhole(0, 1);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = parameters();
				ProcessGroup group = (rank == 0) ? world.group(0) : abortedAfter(broadcasts, world.group(1));
				try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
						CheckpointStore store = store(group,
								new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
					store.restore();
				}
				finally {
					if (rank == 1) {
						parameters().forEach(
								(name, initial) -> assertThat(parameters.get(name).equal(initial)).as(name).isTrue());
					}
				}
				return null;
			});
			assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class);
		}
	}

	/** Otherwise an elastic job could begin again with trained parameters. */
	@Test
	void aGroupThatBreaksAfterTheStateIsReplacedLeavesTheProgressThatBelongsToIt() throws Exception {
		runWhole(0, 1);
		AtomicReference<Progress> progress = new AtomicReference<>();
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			List<RankThreads.Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = parameters();
				ProcessGroup group = (rank == 0) ? world.group(0) : observed(world.group(1), Map.of(), (method) -> {
					boolean replaced = !parameters.get("p1").equal(parameters().get("p1"));
					if (method.equals("allGather") && replaced) {
						world.group(1).abort("the test ends the group");
					}
				});
				try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
						CheckpointStore store = store(group,
								new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
					store.restore((rank == 1) ? progress::set : (_) -> {
					});
				}
				return null;
			});
			assertThat(outcomes.get(1).failure()).isInstanceOf(GroupAbortedException.class);
		}
		assertThat(stepOf(progress.get())).isEqualTo(1);
	}

	private static ProcessGroup abortedAfter(int broadcasts, ProcessGroup group) {
		AtomicInteger left = new AtomicInteger(broadcasts);
		return observed(group, Map.of(), (method) -> {
			if (method.equals("broadcast") && left.getAndDecrement() == 0) {
				group.abort("the test ends the group");
			}
		});
	}

	/** A large tensor is read for longer than a call may take. */
	@Test
	void theOtherRanksAreToldThatRankZeroIsReading() throws Exception {
		runDivided(2, 0, 1);
		assertThat(broadcastsOfRestore(Map.of("timeout", Duration.ofNanos(1))))
			.isGreaterThan(broadcastsOfRestore(Map.of()));
	}

	private int broadcastsOfRestore(Map<String, Object> answers) throws Exception {
		AtomicInteger broadcasts = new AtomicInteger();
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = (rank != 0) ? world.group(rank) : observed(world.group(rank), answers,
						(method) -> broadcasts.addAndGet(method.equals("broadcast") ? 1 : 0));
				Map<String, Tensor> parameters = parameters();
				try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
						CheckpointStore store = store(group,
								new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
					assertThat(stepOf(store.restore())).isEqualTo(1);
				}
				return null;
			});
		}
		return broadcasts.get();
	}

	/** The other ranks would wait for the result of the check. */
	@Test
	void anUnexpectedFailureOfRankZerosCheckIsReportedOnEveryRank() throws Exception {
		runDivided(2, 0, 1);
		List<RankThreads.Outcome<Void>> outcomes;
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				Map<String, Tensor> parameters = parameters();
				try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
						CheckpointStore store = store(
								observed(world.group(rank), Map.of("timeout", "no duration"), (_) -> {
								}), new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
					store.restore();
				}
				return null;
			});
		}
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CheckpointException.class)
				.hasMessageContaining("java.lang.ClassCastException")
				.extracting(ExitCode::of)
				.isEqualTo(ExitCode.INTERNAL));
	}

	/** A group some of whose methods answer something else. */
	private static ProcessGroup observed(ProcessGroup group, Map<String, Object> answers, Consumer<String> called) {
		return (ProcessGroup) Proxy.newProxyInstance(ProcessGroup.class.getClassLoader(),
				new Class<?>[] { ProcessGroup.class }, (_, method, arguments) -> {
					called.accept(method.getName());
					if (answers.containsKey(method.getName())) {
						return answers.get(method.getName());
					}
					try {
						return method.invoke(group, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private void alone(AloneWith use) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = parameters();
			try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])))) {
				use.accept(store(world.group(0),
						new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU)));
			}
		}
	}

	/** A loop of one's own may save without awaiting the write before. */
	@Test
	void aSaveAfterAWriteThatHangsFails() throws Exception {
		List<Long> saved = new ArrayList<>();
		try (HeldCheckpoints held = new HeldCheckpoints();
				SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = parameters();
			try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
					CheckpointStore store = new CheckpointStore(world.group(0),
							new CheckpointOptions(this.directory, 0, 9), JOB,
							new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU),
							(checkpoint) -> saved.add(checkpoint.step()), 0, Duration.ofSeconds(1))) {
				store.open();
				store.save(new Progress(1, 0, 0));
				assertThatThrownBy(() -> store.save(new Progress(2, 0, 0))).isInstanceOf(CheckpointException.class)
					.hasMessageContainingAll(this.directory.toString(), "no progress for 1 s");
				held.release();
				Awaitility.await().pollInSameThread().until(() -> {
					store.poll();
					return !saved.isEmpty();
				});
			}
		}
		assertThat(saved).containsExactly(1L);
		assertThat(CheckpointFixture.steps(this.directory)).containsExactly(1L);
	}

	/** For example while a reader on NFS has an older one open. */
	@Test
	void aCheckpointIsWrittenAlsoIfAnOlderOneCannotBeDeleted() throws Exception {
		List<Long> saved = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = parameters();
			try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
					CheckpointStore store = new CheckpointStore(world.group(0),
							new CheckpointOptions(this.directory, 0, 1), JOB,
							new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU),
							(checkpoint) -> saved.add(checkpoint.step()), 0)) {
				store.open();
				store.save(new Progress(1, 0, 0));
				store.finish();
				Files.createDirectories(this.directory.resolve("step-00000001.0.old.tmp").resolve("part"));
				store.save(new Progress(2, 0, 0));
				store.finish();
				store.save(new Progress(3, 0, 0));
			}
		}
		assertThat(saved).containsExactly(1L, 2L, 3L);
		assertThat(CheckpointFixture.steps(this.directory)).as("the next one deletes it").containsExactly(3L);
	}

	@Test
	void aGenerationReportsOnlyTheCheckpointsThatItHasWritten() throws Exception {
		List<String> saved = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = parameters();
			try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])))) {
				for (long generation = 1; generation <= 2; generation++) {
					String from = "generation " + generation + " step ";
					ProcessGroup group = observed(world.group(0), Map.of("generation", generation), (_) -> {
					});
					try (CheckpointStore store = new CheckpointStore(group, new CheckpointOptions(this.directory, 0, 9),
							JOB, new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU),
							(checkpoint) -> saved.add(from + checkpoint.step()), 7)) {
						store.open();
						store.save(new Progress(5, 0, 0));
						store.save(new Progress(5 + generation, 0, 0));
					}
				}
			}
		}
		assertThat(saved).containsExactly("generation 1 step 5", "generation 1 step 6", "generation 2 step 7");
	}

	/** What one process does with its store. */
	private interface AloneWith {

		void accept(CheckpointStore store) throws Exception;

	}

	/** What a rank does with its store. */
	private interface Saves {

		void run(int rank, CheckpointStore store, ModelState state) throws Exception;

	}

	/** The deadline of a collective is longer than the limit of the test. */
	private List<RankThreads.Outcome<Void>> saves(int ranks, Saves saves) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(ranks, Timeouts.DEFAULTS)) {
			return RankThreads.outcomes(ranks, Duration.ofSeconds(20), (rank) -> {
				ProcessGroup group = world.group(rank);
				Map<String, Tensor> parameters = parameters();
				ModelTensors model = ModelTensors.of(parameters);
				try (ShardedOptimizer optimizer = new ShardedOptimizer(group, model, ShardedCheckpointTest::adam)) {
					gradients(parameters, 0);
					optimizer.step();
					ModelState state = new ModelState(group, model, optimizer, TrainingDevice.CPU);
					CheckpointStore store = store(group, state);
					saves.run(rank, store, state);
					store.close();
				}
				group.barrier();
				return null;
			});
		}
	}

	/** Runs steps of a job whose optimizer is divided, and saves after the last. */
	private void runDivided(int ranks, long from, long to) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(ranks, Timeouts.DEFAULTS)) {
			RankThreads.run(ranks, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				Map<String, Tensor> parameters = parameters();
				ModelTensors model = ModelTensors.of(parameters);
				try (ShardedOptimizer optimizer = new ShardedOptimizer(group, model, ShardedCheckpointTest::adam);
						CheckpointStore store = store(group,
								new ModelState(group, model, optimizer, TrainingDevice.CPU))) {
					assertThat(stepOf(store.restore())).isEqualTo(from);
					for (long step = from; step < to; step++) {
						gradients(parameters, step);
						optimizer.step();
					}
					store.save(new Progress(to, 0, 0));
					store.finish();
				}
				group.barrier();
				return null;
			});
		}
	}

	private void runWhole(long from, long to) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			Map<String, Tensor> parameters = parameters();
			try (Optimizer optimizer = adam(new TensorVector(parameters.values().toArray(new Tensor[0])));
					CheckpointStore store = store(world.group(0),
							new ModelState(ModelTensors.of(parameters), optimizer, TrainingDevice.CPU))) {
				assertThat(stepOf(store.restore())).isEqualTo(from);
				for (long step = from; step < to; step++) {
					gradients(parameters, step);
					optimizer.step();
				}
				store.save(new Progress(to, 0, 0));
				store.finish();
			}
		}
	}

	private CheckpointStore store(ProcessGroup group, ModelState state) {
		return new CheckpointStore(group, new CheckpointOptions(this.directory, 0, 9), JOB, state, (_) -> {
		}, 0);
	}

	private static long stepOf(@Nullable Progress progress) {
		return (progress != null) ? progress.step() : 0;
	}

	/** The state after an undisturbed run in one process. */
	private Map<String, byte[]> expected() throws Exception {
		Path shared = this.directory;
		this.directory = shared.resolve("alone");
		try {
			runWhole(0, STEPS);
			return newest();
		}
		finally {
			this.directory = shared;
		}
	}

	private static Adam adam(TensorVector parameters) {
		return new Adam(parameters, new AdamOptions(0.01));
	}

	/** Parameters of different sizes. */
	private static Map<String, Tensor> parameters() {
		Map<String, Tensor> parameters = new LinkedHashMap<>();
		for (int index = 0; index < 5; index++) {
			Tensor values = torch.arange(new Scalar(4 + 3 * index)).to(torch.ScalarType.Float).div(new Scalar(7));
			parameters.put("p" + index, values.requires_grad_(true));
		}
		return parameters;
	}

	/** Gradients that depend on the step and the parameter's value. */
	private static void gradients(Map<String, Tensor> parameters, long step) {
		try (PointerScope _ = new PointerScope()) {
			parameters.values().forEach((parameter) -> {
				parameter.mutable_grad().reset();
				torch.sin(parameter.add(new Scalar((double) step))).sum().backward();
			});
		}
	}

	/** The tensors of the newest checkpoint by name. */
	private Map<String, byte[]> newest() throws IOException {
		Map<String, byte[]> tensors = new TreeMap<>();
		try (CheckpointFiles files = new CheckpointFiles(CheckpointFixture.list(this.directory).getFirst());
				Arena arena = Arena.ofConfined()) {
			for (TensorHeader header : files.model()) {
				MemorySegment data = arena.allocate(header.bytes(), Long.BYTES);
				files.readModel(header, data, () -> {
				});
				tensors.put(header.name(), data.toArray(ValueLayout.JAVA_BYTE));
			}
			for (TensorHeader header : files.optimizer()) {
				MemorySegment data = arena.allocate(header.bytes(), Long.BYTES);
				files.readOptimizer(header, data, () -> {
				});
				tensors.put(header.name(), data.toArray(ValueLayout.JAVA_BYTE));
			}
		}
		return tensors;
	}

	/** To the last bit. */
	private static void assertSame(Map<String, byte[]> actual, Map<String, byte[]> expected) {
		assertThat(actual.keySet()).isEqualTo(expected.keySet());
		Map<String, byte[]> rest = new HashMap<>(actual);
		expected.forEach((name, bytes) -> assertThat(rest.remove(name)).as(name).isEqualTo(bytes));
		assertThat(rest).isEmpty();
	}

}
