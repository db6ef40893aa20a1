package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.SplittableRandom;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many calls in which ranks run ahead of each other as far as possible, each at its own
 * pace. No operand may be overwritten before all ranks have read it, or read before it is
 * complete.
 */
@Timeout(120)
class SharedMemoryStressTest {

	private static final Duration LIMIT = Duration.ofSeconds(100);

	private static final int CALLS = 20_000;

	/**
	 * Sizes in elements: in the slot's header line, in a slot, through the chunk ring,
	 * several times around the ring.
	 */
	private static final int[] COUNTS = { 1, 2, 3, 60, 512, 2000, 9000, 400_000 };

	private static final int MAX_COUNT = COUNTS[COUNTS.length - 1];

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 5 })
	void noOperandIsOverwrittenOrReadTooEarly(int worldSize) throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		try (SharedWorld world = new SharedWorld(worldSize, Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(10)),
				SharedWorld.Ways.IN_PLACE)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				callAtRandom(world.group(rank), seed);
				return null;
			});
		}
		catch (AssertionError ex) {
			throw new AssertionError("failed with -Dtutti.test.seed=" + seed, ex);
		}
	}

	private static void callAtRandom(ProcessGroup group, long seed) {
		SplittableRandom common = new SplittableRandom(seed);
		SplittableRandom pace = new SplittableRandom(seed + group.rank() + 1);
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment send = arena.allocate(8L * MAX_COUNT * group.worldSize(), 64);
			MemorySegment receive = arena.allocate(8L * MAX_COUNT * group.worldSize(), 64);
			for (int call = 0; call < CALLS; call++) {
				int size = Math.min(common.nextInt(COUNTS.length),
						Math.min(common.nextInt(COUNTS.length), common.nextInt(COUNTS.length)));
				int count = COUNTS[size];
				call(group, call, common.nextInt(6), common.nextInt(group.worldSize()), count, send, receive);
				if (pace.nextInt(16) == 0) {
					Thread.yield();
				}
			}
		}
	}

	private static void call(ProcessGroup group, long call, int kind, int root, int count, MemorySegment send,
			MemorySegment receive) {
		int ranks = group.worldSize();
		MemorySegment one = send.asSlice(0, 8L * count);
		MemorySegment all = receive.asSlice(0, 8L * count * ranks);
		MemorySegment part = receive.asSlice(0, 8L * count);
		fill(one, value(call, group.rank()));
		switch (kind) {
			case 0 -> {
				group.allReduce(one, DataType.INT64, ReduceOp.SUM);
				require(one, sum(call, ranks), kind, call);
			}
			case 1 -> {
				group.broadcast(one, DataType.INT64, root);
				require(one, value(call, root), kind, call);
			}
			case 2 -> {
				group.reduce(one, part, DataType.INT64, ReduceOp.SUM, root);
				if (group.rank() == root) {
					require(part, sum(call, ranks), kind, call);
				}
			}
			case 3 -> {
				group.gather(one, all, DataType.INT64, root);
				for (int rank = 0; group.rank() == root && rank < ranks; rank++) {
					require(all.asSlice(8L * count * rank, 8L * count), value(call, rank), kind, call);
				}
			}
			case 4 -> {
				fill(all, value(call, group.rank()));
				MemorySegment own = send.asSlice(0, 8L * count);
				group.scatter(all, own, DataType.INT64, root);
				require(own, value(call, root), kind, call);
			}
			default -> {
				group.allGather(one, all, DataType.INT64);
				for (int rank = 0; rank < ranks; rank++) {
					require(all.asSlice(8L * count * rank, 8L * count), value(call, rank), kind, call);
				}
			}
		}
	}

	private static long value(long call, int rank) {
		return call * 1000 + rank + 1;
	}

	private static long sum(long call, int ranks) {
		return call * 1000 * ranks + ranks * (ranks + 1L) / 2;
	}

	private static void fill(MemorySegment buffer, long value) {
		for (long i = 0; i < buffer.byteSize() / 8; i++) {
			buffer.setAtIndex(ValueLayout.JAVA_LONG, i, value);
		}
	}

	private static void require(MemorySegment buffer, long expected, int kind, long call) {
		for (long i = 0; i < buffer.byteSize() / 8; i++) {
			if (buffer.getAtIndex(ValueLayout.JAVA_LONG, i) != expected) {
				throw new AssertionError("call " + call + " of kind " + kind + ": element " + i + " must be " + expected
						+ ", is " + buffer.getAtIndex(ValueLayout.JAVA_LONG, i));
			}
		}
	}

}
