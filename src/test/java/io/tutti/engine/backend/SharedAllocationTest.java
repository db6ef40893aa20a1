package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A warm call among ranks that share memory allocates nothing, small or large.
 */
@Timeout(120)
class SharedAllocationTest {

	private static final Duration LIMIT = Duration.ofSeconds(100);

	@ParameterizedTest
	@ValueSource(ints = { 1, 600, 3000 })
	void aWarmCallAllocatesNothing(int count) throws Exception {
		try (SharedWorld world = new SharedWorld(2, Timeouts.DEFAULTS, SharedWorld.Ways.IN_PLACE)) {
			List<Map<String, Long>> byRank = RankThreads.run(2, LIMIT,
					(rank) -> AllocationTest.allocated(world.group(rank), count, 1));
			for (Map<String, Long> allocated : byRank) {
				assertThat(allocated).allSatisfy(
						(name, bytes) -> assertThat(bytes).as("bytes that %ss of %s elements allocated", name, count)
							.isZero());
			}
		}
	}

	@Test
	void aWarmMessageAllocatesNothing() throws Exception {
		try (CollectivesContract.World world = Worlds.memory(2)) {
			List<Map<String, Long>> byRank = RankThreads.run(2, LIMIT,
					(rank) -> AllocationTest.allocatedByMessages(world.group(rank), 600));
			for (Map<String, Long> allocated : byRank) {
				assertThat(allocated)
					.allSatisfy((name, bytes) -> assertThat(bytes).as("bytes that %s of 600 elements allocated", name)
						.isLessThan(AllocationTest.TOLERANCE));
			}
		}
	}

}
