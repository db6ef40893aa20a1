package io.tutti.engine.algorithm.shared;

import io.tutti.engine.transport.shm.ChunkPipeline;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class LargeAlgorithmTest {

	@ParameterizedTest
	@CsvSource({ "1, 1, 16384", "1048576, 1, 131072", "100000, 8, 16384", "10000000, 8, 131072", "5000, 256, 16384",
			"5000, 257, 32768", "5000, 513, 65536", "10000000, 3000, 262144", "1, 8192, 524288" })
	void aSlotHoldsACacheLineOfEverySlice(long bytes, int slices, long slotBytes) {
		assertThat(LargeAlgorithm.slotBytes(bytes, slices)).isEqualTo(slotBytes)
			.isLessThanOrEqualTo(ChunkPipeline.BYTES / 2);
		assertThat(LargeAlgorithm.sliceBytes(slotBytes, slices)).isBetween(64L, slotBytes / slices);
	}

}
