package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.CollectivesContract.World;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Collectives that only move data, with parts of several megabytes, where ranks may and
 * may not read messages out of each other's memory.
 */
@Timeout(120)
class LargeCopiesTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** Not a multiple of a page or of a chunk. */
	private static final int COUNT = 4_200_003;

	private static final int RANKS = 3;

	private static World world(boolean attach) throws Exception {
		return attach ? Worlds.memory(RANKS) : Worlds.memoryWithoutAttach(RANKS);
	}

	/**
	 * A buffer of as many parts; each byte depends on the owner, the part and its place.
	 */
	private static MemorySegment parts(Arena arena, int owner, int parts) {
		MemorySegment buffer = arena.allocate((long) parts * COUNT);
		for (int part = 0; part < parts; part++) {
			for (int i = 0; i < COUNT; i += 997) {
				buffer.set(ValueLayout.JAVA_BYTE, (long) part * COUNT + i, value(owner, part, i));
			}
		}
		return buffer;
	}

	private static byte value(int owner, int part, int place) {
		return (byte) (1 + owner * 50 + part * 11 + place / 997);
	}

	private static void assertPart(MemorySegment buffer, int at, int owner, int part) {
		for (int i = 0; i < COUNT; i += 997) {
			assertThat(buffer.get(ValueLayout.JAVA_BYTE, (long) at * COUNT + i)).isEqualTo(value(owner, part, i));
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void everyPartArrives(boolean attach) throws Exception {
		try (World world = world(attach); Arena arena = Arena.ofShared()) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int round = 0; round < 2; round++) {
					exchange(group, arena, rank, (round + 1) % RANKS);
				}
				return null;
			});
		}
	}

	private static void exchange(ProcessGroup group, Arena arena, int rank, int root) {
		MemorySegment part = parts(arena, rank, 1);
		MemorySegment all = parts(arena, rank, RANKS);
		MemorySegment gathered = arena.allocate((long) RANKS * COUNT);
		group.allGather(part, gathered, DataType.INT8);
		for (int peer = 0; peer < RANKS; peer++) {
			assertPart(gathered, peer, peer, 0);
		}
		MemorySegment exchanged = arena.allocate((long) RANKS * COUNT);
		group.allToAll(all, exchanged, DataType.INT8);
		for (int peer = 0; peer < RANKS; peer++) {
			assertPart(exchanged, peer, peer, rank);
		}
		MemorySegment collected = arena.allocate((rank == root) ? (long) RANKS * COUNT : 0);
		group.gather(part, collected, DataType.INT8, root);
		for (int peer = 0; rank == root && peer < RANKS; peer++) {
			assertPart(collected, peer, peer, 0);
		}
		MemorySegment own = arena.allocate(COUNT);
		group.scatter((rank == root) ? all : arena.allocate(0), own, DataType.INT8, root);
		assertPart(own, 0, root, rank);
		part.fill((byte) 0);
		all.fill((byte) 0);
	}

	/**
	 * Ranks measure from time to time whether to read, and do so in some of the calls.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void resultsAreCorrectWhileTheRanksMeasure(int worldSize) throws Exception {
		int bytes = 40_000;
		try (World world = Worlds.memory(worldSize); Arena arena = Arena.ofShared()) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment part = arena.allocate(bytes);
				MemorySegment whole = arena.allocate((long) worldSize * bytes);
				MemorySegment result = arena.allocate((long) worldSize * bytes);
				for (int call = 0; call < 3000; call++) {
					int root = call / 1000 % worldSize;
					part.fill((byte) (call + rank));
					group.allGather(part, result, DataType.INT8);
					assertParts(result, bytes, worldSize, call);
					group.allToAll(result, whole, DataType.INT8);
					assertThat(whole.get(ValueLayout.JAVA_BYTE, whole.byteSize() - 1)).isEqualTo((byte) (call + rank));
					result.fill((byte) 0);
					group.gather(part, (rank == root) ? result : MemorySegment.NULL, DataType.INT8, root);
					if (rank == root) {
						assertParts(result, bytes, worldSize, call);
					}
					group.scatter(result, part, DataType.INT8, root);
					assertParts(part, bytes, 1, call + rank);
					group.broadcast(part, DataType.INT8, root);
					assertParts(part, bytes, 1, call + root);
				}
				return null;
			});
		}
	}

	/** As above, with operands of several blocks, also in place. */
	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void reductionsAreCorrectWhileTheRanksMeasure(int worldSize) throws Exception {
		int count = 40_001;
		long bytes = Integer.BYTES * (long) count;
		try (World world = Worlds.memory(worldSize); Arena arena = Arena.ofShared()) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment operand = arena.allocate(bytes, Integer.BYTES);
				MemorySegment parts = arena.allocate(worldSize * bytes, Integer.BYTES);
				MemorySegment own = parts.asSlice(rank * bytes, bytes);
				for (int call = 0; call < 1500; call++) {
					int root = call / 500 % worldSize;
					fill(operand, call + rank);
					group.reduce(operand, operand, DataType.INT32, ReduceOp.SUM, root);
					assertSums(operand, (rank == root) ? sum(worldSize, call) : call + rank);
					for (int part = 0; part < worldSize; part++) {
						fill(parts.asSlice(part * bytes, bytes), call + rank + 7 * part);
					}
					group.reduceScatter(parts, own, DataType.INT32, ReduceOp.SUM);
					assertSums(own, sum(worldSize, call + 7 * rank));
				}
				return null;
			});
		}
	}

	private static int sum(int worldSize, int first) {
		return worldSize * first + worldSize * (worldSize - 1) / 2;
	}

	/** Element {@code i} is the value times {@code i + 1}. */
	private static void fill(MemorySegment buffer, int value) {
		for (long i = 0; i < buffer.byteSize() / Integer.BYTES; i++) {
			buffer.setAtIndex(ValueLayout.JAVA_INT, i, value * (int) (i + 1));
		}
	}

	private static void assertSums(MemorySegment buffer, int value) {
		for (long i = 0; i < buffer.byteSize() / Integer.BYTES; i++) {
			if (buffer.getAtIndex(ValueLayout.JAVA_INT, i) != value * (int) (i + 1)) {
				assertThat(buffer.getAtIndex(ValueLayout.JAVA_INT, i)).as("element %d", i)
					.isEqualTo(value * (int) (i + 1));
			}
		}
	}

	private static void assertParts(MemorySegment buffer, int bytes, int parts, int first) {
		for (int part = 0; part < parts; part++) {
			MemorySegment one = buffer.asSlice((long) part * bytes, bytes);
			assertThat(one.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) (first + part));
			assertThat(one.asSlice(1).mismatch(one.asSlice(0, bytes - 1))).isEqualTo(-1);
		}
	}

}
