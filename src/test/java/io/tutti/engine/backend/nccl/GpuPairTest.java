package io.tutti.engine.backend.nccl;

import java.nio.file.Path;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Collectives and failures of two ranks on one GPU.
 */
@Tag("gpu")
@Timeout(180)
class GpuPairTest {

	@TempDir
	Path directory;

	@ParameterizedTest
	@CsvSource({ "collectives, 0, 0", "absent, 0, 0", "killed, 0, 9", "mismatch, 0, 0", "types, 0, 0",
			"subgroups, 0, 0", "shrunk, 0, 0", "halted, 0, 9" })
	void bothRanksExitWithTheExpectedCode(String scenario, int first, int second) throws Exception {
		Gpu.require();
		GpuPair.run(this.directory, GpuRank.class, scenario, first, second);
	}

}
