package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.engine.backend.nccl.NcclAvailability.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The probe names what is missing, also if a file is not the expected library.
 */
@Timeout(60)
class NcclProbeTest {

	private static final String NONE = "libtutti-there-is-none.so.1";

	@TempDir(cleanup = CleanupMode.ON_SUCCESS)
	Path directory;

	@Test
	void aMissingDriverIsNamedWithin200Milliseconds() {
		NcclAvailability answer = look(NONE, NONE, NONE);
		// The fastest of several: a busy machine interrupts some of them for longer.
		long fastest = Long.MAX_VALUE;
		for (int probe = 0; probe < 5; probe++) {
			long start = System.nanoTime();
			look(NONE, NONE, NONE);
			fastest = Math.min(fastest, System.nanoTime() - start);
		}
		assertThat(Duration.ofNanos(fastest)).isLessThan(Duration.ofMillis(200));
		assertThat(answer.state()).isEqualTo(State.DRIVER_MISSING);
		assertThat(answer).hasToString("driver missing: " + NONE + " cannot be loaded");
		assertThat(answer.available()).isFalse();
		assertThat(answer.state().action()).contains("NVIDIA's driver");
	}

	@Test
	void anInvalidLibraryFileIsAMissingDriver() throws IOException {
		Path text = Files.writeString(this.directory.resolve("libcuda.so.1"), "not a library");
		assertThat(look(text.toString(), NONE, NONE).state()).isEqualTo(State.DRIVER_MISSING);
	}

	@Test
	void aLibraryWithoutDriverFunctionsIsAMissingDriver() {
		Path library = StubLibrary.compile(this.directory, "other", "int other(void) { return 0; }");
		NcclAvailability answer = look(library.toString(), NONE, NONE);
		assertThat(answer.state()).isEqualTo(State.DRIVER_MISSING);
		assertThat(answer.detail()).isEqualTo(library + " has no cuInit");
	}

	@Test
	void aDriverThatFailsToInitializeHasNoDevice() {
		Path driver = StubLibrary.driver(this.directory, "driver", 100, 0, 7);
		assertThat(look(driver.toString(), NONE, NONE)).hasToString("no device: cuInit returned 100");
	}

	@Test
	void aDriverWithoutDevicesHasNoDevice() {
		Path driver = StubLibrary.driver(this.directory, "driver", 0, 0, 0);
		assertThat(look(driver.toString(), NONE, NONE)).hasToString("no device: the driver reports no GPU");
	}

	@Test
	void theCountOfAFailedCallIsIgnored() {
		Path driver = StubLibrary.driver(this.directory, "driver", 0, 3, 12345);
		NcclAvailability answer = look(driver.toString(), NONE, NONE);
		assertThat(answer.available()).isFalse();
		assertThat(answer.devices()).isZero();
		assertThat(answer.detail()).contains("cuDeviceGetCount").contains("returned 3");
	}

	@Test
	void aMissingRuntimeIsNamed() {
		NcclAvailability answer = look(driver(), NONE, NONE);
		assertThat(answer.state()).isEqualTo(State.RUNTIME_MISSING);
		assertThat(answer.detail()).isEqualTo(NONE + " cannot be loaded");
		assertThat(answer.devices()).isEqualTo(2);
	}

	@Test
	void eitherVersionOfTheRuntimeIsDetected() {
		for (List<String> runtimes : List.of(List.of(runtime(), NONE), List.of(NONE, runtime()))) {
			assertThat(new NcclProbe(true, driver(), runtimes, NONE).probe().state()).isEqualTo(State.LIBRARY_MISSING);
		}
		NcclAvailability answer = new NcclProbe(true, driver(), List.of(NONE, NONE + "2"), NONE).probe();
		assertThat(answer).hasToString("CUDA runtime missing: " + NONE + " or " + NONE + "2 cannot be loaded");
		assertThat(NcclProbe.ofProcess().runtimes()).containsExactly("libcudart.so.13", "libcudart.so.12");
	}

	@Test
	void aMissingNcclIsNamed() {
		assertThat(look(driver(), runtime(), NONE)).hasToString("libnccl.so.2 missing: " + NONE + " cannot be loaded");
	}

	/** A property takes precedence over the variable. */
	@Test
	void aLibraryThatAVariableNamesIsNamedWhereItIsMissing() {
		Map<String, String> environment = Map.of("TUTTI_GPU_DRIVER", driver(), "TUTTI_GPU_CUDART", runtime(),
				"TUTTI_GPU_NCCL", "/nowhere/libnccl.so");
		NcclAvailability answer = NcclProbe.of((property) -> null, environment).probe();
		assertThat(answer).hasToString("libnccl.so.2 missing: /nowhere/libnccl.so cannot be loaded");
		assertThat(answer.state().action()).contains("LD_LIBRARY_PATH", "TUTTI_GPU_NCCL");
		assertThat(NcclProbe.of(Map.of("tutti.gpu.nccl", NONE)::get, environment).probe().detail())
			.isEqualTo(NONE + " cannot be loaded");
	}

	@Test
	void aLibraryWithoutAVersionFunctionIsAMissingNccl() {
		NcclAvailability answer = look(driver(), runtime(), runtime());
		assertThat(answer.state()).isEqualTo(State.LIBRARY_MISSING);
		assertThat(answer.detail()).endsWith(" has no ncclGetVersion");
	}

	@Test
	void anNcclWithoutNonBlockingCreationIsTooOld() {
		Path nccl = StubLibrary.nccl(this.directory, "nccl", 21304, NcclFunction.LAST_ERROR);
		assertThat(look(driver(), runtime(), nccl.toString()))
			.hasToString("NCCL too old: NCCL 2.13.4 lacks ncclCommInitRankConfig, which NCCL has since 2.14");
	}

	@Test
	void anInstalledNcclIsReportedWithVersionAndFunctions() {
		Path nccl = StubLibrary.nccl(this.directory, "nccl", 21803, NcclFunction.INIT_RANK_CONFIG,
				NcclFunction.FINALIZE, NcclFunction.SPLIT);
		NcclAvailability answer = look(driver(), runtime(), nccl.toString());
		assertThat(answer).hasToString("available: NCCL 2.18.3, 2 devices");
		assertThat(answer.has(NcclFunction.SPLIT)).isTrue();
		answer.require(NcclFunction.SPLIT);
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> answer.require(NcclFunction.SHRINK))
			.withMessage("ncclCommShrink needs NCCL 2.27 or newer, installed is 2.18.3; install a newer libnccl.so.2");
	}

	@Test
	void aMissingPresetIsNamed() {
		NcclAvailability answer = new NcclProbe(false, NONE, List.of(NONE), NONE).probe();
		assertThat(answer.state()).isEqualTo(State.PRESET_MISSING);
	}

	@Test
	void theProbeOfThisProcessAlwaysReturnsAResult() {
		assertThat(NcclAvailability.probe().detail()).isNotBlank();
	}

	private String driver() {
		return StubLibrary.driver(this.directory, "driver", 0, 0, 2).toString();
	}

	private String runtime() {
		return StubLibrary.compile(this.directory, "runtime", "int cudaFree(void *p) { return p != 0; }").toString();
	}

	private static NcclAvailability look(String driver, String runtime, String nccl) {
		return new NcclProbe(true, driver, List.of(runtime), nccl).probe();
	}

}
