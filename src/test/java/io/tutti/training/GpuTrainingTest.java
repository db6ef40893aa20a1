package io.tutti.training;

import java.nio.file.Path;

import io.tutti.engine.backend.nccl.GpuPair;
import io.tutti.engine.backend.nccl.NcclAvailability;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two ranks train on one GPU. Needs a build of libtorch for GPUs.
 */
@Tag("gpu")
@Timeout(180)
@SharesLibtorch
class GpuTrainingTest {

	@TempDir
	Path directory;

	@BeforeAll
	static void requireGpu() {
		NcclAvailability found = NcclAvailability.probe();
		Assumptions.assumeTrue(found.available(), () -> "no GPU to test on: " + found);
		NativeLibraryPreparation.prepare();
		Assumptions.assumeTrue(torch.cuda_is_available(), "libtorch detects no GPU");
	}

	@ParameterizedTest
	@ValueSource(strings = { "gradients", "steps", "accumulation", "job", "tensors", "speed" })
	void bothRanksSucceed(String scenario) throws Exception {
		GpuPair.run(this.directory, GpuTrainingRank.class, scenario, 0, 0);
	}

}
