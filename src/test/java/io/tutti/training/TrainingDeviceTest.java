package io.tutti.training;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.ScriptedGpuRanks;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.backend.nccl.ScriptedGpus;
import io.tutti.engine.device.HostFallback;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(60)
@SharesLibtorch
class TrainingDeviceTest {

	private static final HostFallback FORBIDDEN = new HostFallback(false);

	private static final HostFallback ALLOWED = new HostFallback(true);

	@ParameterizedTest
	@ValueSource(strings = { "auto", "cpu", "cuda", "cuda:0", "cuda:17" })
	void theTextOfAParsedChoiceIsItsInput(String text) {
		assertThat(DeviceChoice.parse(text)).hasToString(text);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "cuda: 1" })
	void anInvalidChoiceIsRejectedWithTheValidOnes(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> DeviceChoice.parse(text))
			.withMessage("device must be auto, cpu, cuda or cuda:n, got " + text);
	}

	/** An index of -1 means the CPU. */
	@ParameterizedTest
	@CsvSource({ "cpu, 4, 1, true, -1", "auto, 4, 1, true, 1", "auto, 4, 6, true, 2", "auto, 0, 1, true, -1",
			"auto, 4, 1, false, -1", "cuda, 4, 3, true, 3", "cuda, 2, 3, true, 1", "cuda:3, 4, 3, true, 3" })
	void theLocalRankSelectsTheGpu(String choice, int gpus, int localRank, boolean groupReachesDevices, int expected) {
		assertThat(
				TrainingDevice.index(DeviceChoice.parse(choice), () -> gpus, localRank, groupReachesDevices, FORBIDDEN))
			.isEqualTo(expected);
	}

	@Test
	void withHostFallbackAnyGpuMayBeSelected() {
		assertThat(TrainingDevice.index(DeviceChoice.parse("cuda:2"), () -> 4, 0, false, ALLOWED)).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			cuda   | 0 | 0 | true  | tutti.train.device=cuda, but libtorch detects no GPU
			cuda:4 | 4 | 0 | true  | tutti.train.device=cuda:4, but libtorch detects the GPUs 0..3
			cuda:2 | 4 | 1 | true  | the group's communicator works on device 1, that of local rank 1
			cuda   | 4 | 1 | false | the group's backend does not support device memory
			""")
	void anUnavailableDeviceIsRejectedWithAReason(String choice, int gpus, int localRank, boolean groupReachesDevices,
			String reason) {
		assertThatExceptionOfType(BackendUnavailableException.class)
			.isThrownBy(() -> TrainingDevice.index(DeviceChoice.parse(choice), () -> gpus, localRank,
					groupReachesDevices, FORBIDDEN))
			.withMessageContaining(reason)
			.satisfies((ex) -> assertThat(ex.action()).isNotBlank());
	}

	@Test
	void aCpuBuildOfLibtorchReportsThatItSeesNoGpu() {
		Assumptions.assumeFalse(torch.cuda_is_available(), "there is a GPU and a libtorch for it");
		TrainingDevice.requirePresent(DeviceChoice.parse("auto"), RankAssignment.single());
		assertThatExceptionOfType(BackendUnavailableException.class)
			.isThrownBy(() -> TrainingDevice.requirePresent(DeviceChoice.parse("cuda"), RankAssignment.single()))
			.withMessageContaining("libtorch detects no GPU");
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			assertThatExceptionOfType(BackendUnavailableException.class).isThrownBy(() -> choose(world, "cuda"))
				.withMessageContaining("libtorch detects no GPU")
				.withMessageContaining("GPU build of libtorch");
			assertThat(choose(world, "auto")).isSameAs(TrainingDevice.CPU);
		}
	}

	@Test
	void aGroupOnGpusThatLibtorchDoesNotSeeCausesAWarning() throws Exception {
		Assumptions.assumeFalse(torch.cuda_is_available(), "there is a GPU and a libtorch for it");
		List<String> warnings = new CopyOnWriteArrayList<>();
		CollectiveListener listener = new CollectiveListener() {
			@Override
			public void warn(String message) {
				warnings.add(message);
			}
		};
		ScriptedGpuRanks.run(new ScriptedGpus(1), 1, Duration.ofSeconds(30), (group) -> {
			for (String choice : List.of("auto", "cpu")) {
				assertThat(TrainingDevice.choose(DeviceChoice.parse(choice), group, 0, FORBIDDEN, listener,
						Duration.ofSeconds(10)))
					.isSameAs(TrainingDevice.CPU);
			}
			return null;
		});
		assertThat(warnings).singleElement()
			.asString()
			.startsWith("the group supports device memory, but libtorch detects no GPU, so rank 0 computes on the CPU");
	}

	private static TrainingDevice choose(SimulatedWorld world, String choice) {
		return TrainingDevice.choose(DeviceChoice.parse(choice), world.group(0), 0, ALLOWED, CollectiveListener.NONE,
				Duration.ofSeconds(10));
	}

}
