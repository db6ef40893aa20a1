package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
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

}
