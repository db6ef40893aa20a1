package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.sun.management.ThreadMXBean;
import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A synchronous call on native buffers allocates nothing once it is warm.
 */
@Timeout(120)
class AllocationTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** Enough for the compiler to have had its say. */
	private static final int WARM_UP_CALLS = 20_000;

	private static final int CALLS = 1000;

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private static Map<String, Runnable> calls(ProcessGroup group, Arena arena, int count) {
		DataType type = DataType.FLOAT32;
		ReduceOp op = ReduceOp.SUM;
		int ranks = group.worldSize();
		MemorySegment part = arena.allocate(4L * count, 64);
		MemorySegment whole = arena.allocate(4L * count * ranks, 64);
		MemorySegment other = arena.allocate(4L * count * ranks, 64);
		long[] counts = new long[ranks];
		java.util.Arrays.fill(counts, count);
		Map<String, Runnable> calls = new LinkedHashMap<>();
		calls.put("all-reduce", () -> group.allReduce(part, type, op));
		calls.put("reduce", () -> group.reduce(whole, other, type, op, 1));
		calls.put("broadcast", () -> group.broadcast(part, type, 0));
		calls.put("all-gather", () -> group.allGather(part, whole, type));
		calls.put("uneven all-gather", () -> group.allGather(part, whole, counts, type));
		calls.put("reduce-scatter", () -> group.reduceScatter(whole, part, type, op));
		calls.put("uneven reduce-scatter", () -> group.reduceScatter(whole, part, counts, type, op));
		calls.put("gather", () -> group.gather(part, whole, type, 0));
		calls.put("scatter", () -> group.scatter(whole, part, type, 1));
		calls.put("all-to-all", () -> group.allToAll(whole, other, type));
		calls.put("uneven all-to-all", () -> group.allToAll(whole, counts, other, counts, type));
		calls.put("barrier", group::barrier);
		return calls;
	}

	static Map<String, Long> allocated(ProcessGroup group, int count) {
		Map<String, Long> allocated = new LinkedHashMap<>();
		try (Arena arena = Arena.ofConfined()) {
			calls(group, arena, count).forEach((name, call) -> {
				for (int i = 0; i < WARM_UP_CALLS; i++) {
					call.run();
				}
				long before = THREADS.getCurrentThreadAllocatedBytes();
				for (int i = 0; i < CALLS; i++) {
					call.run();
				}
				allocated.put(name, THREADS.getCurrentThreadAllocatedBytes() - before);
			});
		}
		return allocated;
	}

	@Test
	void aWarmCallAllocatesNothing() throws Exception {
		for (int count : new int[] { 1, 600 }) {
			try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
				List<Map<String, Long>> byRank = RankThreads.run(2, LIMIT,
						(rank) -> allocated(world.group(rank), count));
				for (Map<String, Long> allocated : byRank) {
					assertThat(allocated).allSatisfy((name, bytes) -> assertThat(bytes)
						.as("bytes that %s %ss of %s elements allocated", CALLS, name, count)
						.isZero());
				}
			}
		}
	}

	/** The measurement would notice: a future is an object. */
	@Test
	void anAsynchronousCallAllocates() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS); Arena arena = Arena.ofShared()) {
			MemorySegment buffer = arena.allocate(2 * 4, 64);
			List<Long> byRank = RankThreads.run(2, LIMIT, (rank) -> {
				long before = THREADS.getCurrentThreadAllocatedBytes();
				for (int i = 0; i < CALLS; i++) {
					world.group(rank)
						.allReduceAsync(buffer.asSlice(4 * rank, 4), DataType.FLOAT32, ReduceOp.MAX)
						.join();
				}
				return THREADS.getCurrentThreadAllocatedBytes() - before;
			});
			assertThat(byRank).allSatisfy((bytes) -> assertThat(bytes).isGreaterThan(CALLS));
		}
	}

}
