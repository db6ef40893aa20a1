package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A warm call of a two-level algorithm allocates nothing.
 */
@Timeout(120)
class HierarchicalAllocationTest {

	private static final Duration LIMIT = Duration.ofSeconds(100);

	/** Two hosts of two. */
	private static final int RANKS = 4;

	/** A buffer size that is reduced in parts, one for each rank of a host. */
	private static final long PARTED_BYTES = 64 << 10;

	@Test
	void aWarmCallAllocatesNothing() throws Exception {
		try (HierarchicalWorld world = world()) {
			List<Map<String, Long>> byRank = RankThreads.run(RANKS, LIMIT,
					(rank) -> AllocationTest.allocated(world.group(rank), 1, AllocationTest.TOLERANCE));
			for (Map<String, Long> allocated : byRank) {
				assertThat(allocated).allSatisfy((name, bytes) -> assertThat(bytes).as("bytes that %ss allocated", name)
					.isLessThan(AllocationTest.TOLERANCE));
			}
		}
	}

	@Test
	void aWarmAllReduceInPartsAllocatesNothing() throws Exception {
		try (HierarchicalWorld world = world(); Arena arena = Arena.ofShared()) {
			List<Long> byRank = RankThreads.run(RANKS, LIMIT, (rank) -> {
				MemorySegment buffer = arena.allocate(PARTED_BYTES);
				Runnable call = () -> world.group(rank).allReduce(buffer, DataType.FLOAT32, ReduceOp.SUM);
				for (int i = 0; i < AllocationTest.WARM_UP_CALLS; i++) {
					call.run();
				}
				return AllocationTest.leastOf(world.group(rank), AllocationTest.TOLERANCE, call);
			});
			assertThat(byRank).allSatisfy((bytes) -> assertThat(bytes).isLessThan(AllocationTest.TOLERANCE));
		}
	}

	private static HierarchicalWorld world() throws Exception {
		return new HierarchicalWorld(RANKS, Timeouts.DEFAULTS, (rank) -> rank / 2);
	}

}
