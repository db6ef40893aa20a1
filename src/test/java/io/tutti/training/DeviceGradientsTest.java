package io.tutti.training;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.ScriptedGpuRanks;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.backend.nccl.HostDevices;
import io.tutti.engine.backend.nccl.ScriptedGpus;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.HostFallback;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Gradients in simulated device memory that is main memory, so that libtorch can use it
 * without a GPU. Buckets, copies and calls are the same as on a GPU.
 */
@Timeout(120)
@SharesLibtorch
class DeviceGradientsTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** One bucket per parameter: a weight and a bias. */
	private static final DataParallelSettings SMALL_BUCKETS = DataParallelSettings.defaults()
		.withBucketBytes(4)
		.withScaling(GradientScaling.SUM);

	private static final int BUCKETS = 2;

	/** Each bucket is one reduction, and the status of the step is another. */
	private static final int REDUCTIONS = BUCKETS + 1;

	private static final int STEPS = 3;

	/** The status is copied in each direction in each step, on two ranks. */
	private static final int COPIES = 2 * 2 * STEPS;

	private final ScriptedGpus gpus = new ScriptedGpus(2);

	private final HostDevices devices = this.gpus.devices();

	private final AtomicInteger waits = new AtomicInteger();

	private final List<String> warnings = new CopyOnWriteArrayList<>();

	@ParameterizedTest
	@EnumSource(Overlap.class)
	void bucketsAreReducedInDeviceMemory(Overlap overlap) throws Exception {
		List<float[]> gradients = ScriptedGpuRanks.run(this.gpus, 2, LIMIT,
				(group) -> trained(group, false, SMALL_BUCKETS.withOverlap(overlap), 0));
		assertThat(gradients).allSatisfy((gradient) -> assertThat(gradient).containsExactly(1 + 2, 2 + 4, 3 + 6));
		assertThat(this.gpus.calls("allReduce")).isEqualTo(2 * REDUCTIONS * STEPS);
		assertThat(this.devices.copies()).isEqualTo(COPIES);
		assertThat(this.waits).hasValueGreaterThanOrEqualTo(2 * REDUCTIONS * STEPS);
		assertThat(this.devices.allocations()).isZero();
	}

	@Test
	void piggybackedValuesAreCopiedToTheDeviceAndBack() throws Exception {
		ScriptedGpuRanks.run(this.gpus, 2, LIMIT, (group) -> trained(group, false, SMALL_BUCKETS, 2));
		assertThat(this.devices.copies()).isEqualTo(COPIES);
	}

	@Test
	void withoutDeviceSupportEachBucketIsReducedThroughHostMemoryWithAWarning() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			List<float[]> gradients = RankThreads.run(2, LIMIT,
					(rank) -> trained(world.group(rank), true, SMALL_BUCKETS, 1));
			assertThat(gradients).allSatisfy((gradient) -> assertThat(gradient).containsExactly(1 + 2, 2 + 4, 3 + 6));
		}
		assertThat(this.warnings).hasSize(2 * REDUCTIONS * STEPS)
			.allSatisfy((warning) -> assertThat(warning).contains("goes through host memory"));
		assertThat(this.devices.allocations()).isZero();
	}

	@Test
	void withoutHostFallbackTheFirstStepFailsAndNamesBothRemedies() {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> trained(world.group(0), false, SMALL_BUCKETS, 0))
				.withMessageContaining("profile nccl")
				.withMessageContaining("tutti.gpu.host-fallback=true");
		}
		assertThat(this.devices.allocations()).isZero();
	}

	@Test
	void aModelOnAGpuNeedsDeviceCollectives() {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> new ParameterPlacement(torch.DeviceType.CUDA, 1).memory(world.group(0), null))
				.withMessageContaining("the model is on cuda:1: give DistributedDataParallel the DeviceCollectives");
		}
	}

	@Test
	void deviceCollectivesOfAnotherGroupAreRejected() {
		ParameterPlacement placement = new ParameterPlacement(torch.DeviceType.CUDA, 1);
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
				SimulatedWorld other = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			ProcessGroup group = world.group(0);
			DeviceCollectives ofOther = collectives(other.group(0), false);
			String message = "the DeviceCollectives are those of " + other.group(0) + ", not of " + group
					+ "; create them with that group";
			assertThatIllegalArgumentException().isThrownBy(() -> placement.memory(group, ofOther))
				.withMessageContaining(message);
			assertThatIllegalArgumentException().isThrownBy(() -> new TensorCollectives(group, ofOther))
				.withMessageContaining(message);
			DeviceCollectives ofView = collectives(group.withTimeout(LIMIT), false);
			assertThat(placement.memory(group, ofView)).isNotNull();
			assertThat(new TensorCollectives(group, ofView)).isNotNull();
		}
	}

	@Test
	void parametersOnSeveralOrUnsupportedDevicesAreRejectedByName() {
		Tensor here = torch.ones(2);
		try (Device meta = new Device("meta"); TensorOptions options = new TensorOptions(meta)) {
			Tensor elsewhere = torch.empty(new long[] { 3 }, options, null);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> ParameterPlacement.requireOne(List.of(new Parameter("b", elsewhere))))
				.withMessage("parameters must be in main memory or on a GPU, got parameter b of shape 3 on meta:0");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> ParameterPlacement
					.requireOne(List.of(new Parameter("a", here), new Parameter("b", elsewhere))))
				.withMessage(
						"parameters must all be on one device, the first is on cpu, got parameter b of shape 3 on meta:0");
		}
	}

	/**
	 * In each step, the gradients of the weight are (rank + 1) times 1 and 2, and that of
	 * the bias is (rank + 1) times 3.
	 */
	private float[] trained(ProcessGroup group, boolean fallback, DataParallelSettings settings,
			int piggybackedValues) {
		LinearImpl model = new LinearImpl(2, 1);
		try (DistributedDataParallel replicas = new DistributedDataParallel(group, ModelTensors.of(model), model,
				settings, piggybackedValues, (_) -> memory(group, fallback))) {
			for (int step = 0; step < STEPS; step++) {
				replicas.zeroGradients();
				backward(model, group.rank() + 1);
				for (int number = 0; number < piggybackedValues; number++) {
					replicas.piggybackedValues().setAtIndex(ValueLayout.JAVA_FLOAT, number, 10 * number + group.rank());
				}
				replicas.synchronizeGradients();
				for (int number = 0; number < piggybackedValues; number++) {
					assertThat(replicas.piggybackedValues().getAtIndex(ValueLayout.JAVA_FLOAT, number))
						.isEqualTo(20 * number + 1);
				}
			}
			float[] weight = TensorMemory.of(model.weight().grad()).toArray(ValueLayout.JAVA_FLOAT);
			float[] bias = TensorMemory.of(model.bias().grad()).toArray(ValueLayout.JAVA_FLOAT);
			return new float[] { weight[0], weight[1], bias[0] };
		}
	}

	private GradientMemory memory(ProcessGroup group, boolean fallback) {
		return new DeviceGradients(group, collectives(group, fallback), group.rank(), this.waits::incrementAndGet);
	}

	private DeviceCollectives collectives(ProcessGroup group, boolean fallback) {
		CollectiveListener listener = new CollectiveListener() {
			@Override
			public void warn(String message) {
				DeviceGradientsTest.this.warnings.add(message);
			}
		};
		return new DeviceCollectives(group, this.devices, new HostFallback(fallback), listener, LIMIT);
	}

	private static void backward(LinearImpl model, int factor) {
		Tensor weights = torch.tensor(new float[] { 1, 2 }).view(1, 2);
		Tensor scores = model.forward(weights.mul(new Scalar((double) factor)));
		Tensor bias = model.bias().mul(new Scalar(3.0 * factor - 1));
		scores.sum().add(bias.sum()).backward();
	}

}
