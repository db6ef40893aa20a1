package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.sun.management.ThreadMXBean;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A synchronous call on native buffers allocates nothing once it is warm.
 */
@Timeout(120)
class AllocationTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** The first calls may allocate what the later ones use again. */
	static final int WARM_UP_CALLS = 2000;

	private static final int CALLS = 1000;

	/** Enough rounds for the JIT to compile the call path. */
	private static final int ROUNDS = 80;

	/**
	 * Vectors are heap objects until the code is compiled, which takes long on a busy
	 * machine.
	 */
	private static final Duration COMPILING = Duration.ofSeconds(20);

	/**
	 * The garbage collectors may round up a thread's allocation when its buffer is
	 * replaced; below one byte per two calls, no call allocates.
	 */
	static final long TOLERANCE = CALLS / 2;

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

	private static Map<String, Runnable> messages(ProcessGroup group, Arena arena, int count) {
		DataType type = DataType.FLOAT32;
		MemorySegment whole = arena.allocate(4L * count, 64);
		MemorySegment other = arena.allocate(4L * count, 64);
		Map<String, Runnable> calls = new LinkedHashMap<>();
		int peer = 1 - group.rank();
		MemorySegment mine = whole.asSlice(0, 4L * count);
		MemorySegment theirs = other.asSlice(0, 4L * count);
		calls.put("send-receive", () -> group.sendReceive(mine, peer, theirs, peer, type, 0));
		calls.put("send and receive", () -> {
			group.send(mine, type, peer, 1);
			group.receive(theirs, type, peer, 1);
		});
		return calls;
	}

	/** Bytes that collectives allocate; stops at the first round below the limit. */
	static Map<String, Long> allocated(ProcessGroup group, int count, long limit) {
		return allocated(group, count, limit, AllocationTest::calls);
	}

	/** Bytes that messages allocate. */
	static Map<String, Long> allocatedByMessages(ProcessGroup group, int count) {
		return allocated(group, count, TOLERANCE, AllocationTest::messages);
	}

	private static Map<String, Long> allocated(ProcessGroup group, int count, long limit, Calls calls) {
		ReductionKernels.get().warmUp(DataType.FLOAT32, ReduceOp.SUM, COMPILING);
		Map<String, Long> allocated = new LinkedHashMap<>();
		try (Arena arena = Arena.ofConfined()) {
			calls.of(group, arena, count).forEach((name, call) -> {
				for (int i = 0; i < WARM_UP_CALLS; i++) {
					call.run();
				}
				allocated.put(name, leastOf(group, limit, call));
			});
		}
		return allocated;
	}

	/**
	 * Bytes that calls allocate, the least of several rounds, since the JIT may still
	 * replace code. The ranks end together, after the first round by which each had one
	 * with fewer bytes than the limit: on a busy machine the compiler may come late.
	 */
	static long leastOf(ProcessGroup group, long limit, Runnable call) {
		long least = Long.MAX_VALUE;
		int[] allocating = { 1 };
		for (int round = 0; round < ROUNDS && allocating[0] != 0; round++) {
			long before = THREADS.getCurrentThreadAllocatedBytes();
			for (int i = 0; i < CALLS; i++) {
				call.run();
			}
			least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
			allocating[0] = (least < limit) ? 0 : 1;
			group.allReduce(allocating, ReduceOp.MAX);
		}
		return least;
	}

	private interface Calls {

		Map<String, Runnable> of(ProcessGroup group, Arena arena, int count);

	}

	@Test
	void aWarmCollectiveAllocatesNothing() throws Exception {
		requireNothing(AllocationTest::calls);
	}

	@Test
	void aWarmMessageAllocatesNothing() throws Exception {
		requireNothing(AllocationTest::messages);
	}

	private static void requireNothing(Calls calls) throws Exception {
		for (int count : new int[] { 1, 600 }) {
			try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
				List<Map<String, Long>> byRank = RankThreads.run(2, LIMIT,
						(rank) -> allocated(world.group(rank), count, TOLERANCE, calls));
				for (Map<String, Long> allocated : byRank) {
					assertThat(allocated).allSatisfy((name, bytes) -> assertThat(bytes)
						.as("bytes that %s %ss of %s elements allocated", CALLS, name, count)
						.isLessThan(TOLERANCE));
				}
			}
		}
	}

}
