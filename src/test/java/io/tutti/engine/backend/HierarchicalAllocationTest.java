package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A warm call allocates nothing on two levels either.
 */
@Timeout(120)
class HierarchicalAllocationTest {

	private static final Duration LIMIT = Duration.ofSeconds(100);

	@ParameterizedTest
	@ValueSource(ints = { 1, 40_000 })
	void aWarmCallAllocatesNothing(int count) throws Exception {
		try (HierarchicalWorld world = new HierarchicalWorld(3, Timeouts.DEFAULTS, (rank) -> rank / 2)) {
			List<Map<String, Long>> byRank = RankThreads.run(3, LIMIT,
					(rank) -> AllocationTest.allocated(world.group(rank), count));
			for (Map<String, Long> allocated : byRank) {
				assertThat(allocated).allSatisfy(
						(name, bytes) -> assertThat(bytes).as("bytes that %ss of %s elements allocated", name, count)
							.isLessThan(AllocationTest.TOLERANCE));
			}
		}
	}

}
