package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.AsyncCallTest.Connection;
import io.tutti.engine.backend.CollectivesContract.World;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls on several buffers, over every transport.
 */
@Timeout(120)
class BufferListTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** Empty, tiny, just packed, just not packed, and large. */
	private static final int[] COUNTS = { 0, 1, 3, 16_384, 16_385, 7, 300_000, 1, 0, 5 };

	private static List<MemorySegment> buffers(int rank, Arena arena) {
		List<MemorySegment> buffers = new ArrayList<>();
		for (int b = 0; b < COUNTS.length; b++) {
			// Heap, shared and automatic memory side by side.
			MemorySegment buffer = switch (b % 3) {
				case 0 -> MemorySegment.ofArray(new int[COUNTS[b]]);
				case 1 -> arena.allocate(ValueLayout.JAVA_INT, COUNTS[b]);
				default -> Arena.ofAuto().allocate(ValueLayout.JAVA_INT, COUNTS[b]);
			};
			for (int i = 0; i < COUNTS[b]; i++) {
				buffer.setAtIndex(ValueLayout.JAVA_INT, i, 1000 * b + i + 17 * rank);
			}
			buffers.add(buffer);
		}
		return buffers;
	}

	private static void requireSums(List<MemorySegment> buffers, int ranks) {
		int offsets = 17 * ranks * (ranks - 1) / 2;
		for (int b = 0; b < COUNTS.length; b++) {
			for (int i = 0; i < COUNTS[b]; i++) {
				assertThat(buffers.get(b).getAtIndex(ValueLayout.JAVA_INT, i))
					.isEqualTo(ranks * (1000 * b + i) + offsets);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void everyBufferOfAListHoldsItsSum(Connection connection) throws Exception {
		try (World world = connection.world(3); Arena arena = Arena.ofShared()) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				for (int round = 0; round < 3; round++) {
					List<MemorySegment> buffers = buffers(rank, arena);
					group.allReduce(buffers, DataType.INT32, ReduceOp.SUM);
					requireSums(buffers, 3);
					List<MemorySegment> others = buffers(rank, arena);
					var work = group.allReduceAsync(others, DataType.INT32, ReduceOp.SUM);
					int[] between = { rank };
					group.allReduce(between, ReduceOp.MAX);
					work.await();
					requireSums(others, 3);
					assertThat(between).containsExactly(2);
				}
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void everyBufferOfAListIsBroadcast(Connection connection) throws Exception {
		try (World world = connection.world(3); Arena arena = Arena.ofShared()) {
			List<MemorySegment> expected = buffers(2, arena);
			RankThreads.run(3, LIMIT, (rank) -> {
				List<MemorySegment> buffers = buffers(rank, arena);
				world.group(rank).broadcast(buffers, DataType.INT32, 2);
				for (int b = 0; b < COUNTS.length; b++) {
					assertThat(buffers.get(b).mismatch(expected.get(b))).isEqualTo(-1);
				}
				world.group(rank).broadcastAsync(buffers, DataType.INT32, 1).await();
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void anEmptyListIsACallLikeAnyOther(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				world.group(rank).allReduce(List.of(), DataType.FLOAT32, ReduceOp.SUM);
				world.group(rank).barrier();
				return null;
			});
			assertThat(world.group(0).lastEntered()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void listsOfOtherSizesAreAMismatch(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				List<MemorySegment> buffers = List.of(MemorySegment.ofArray(new float[2 + rank]),
						MemorySegment.ofArray(new float[5]));
				assertThatThrownBy(() -> world.group(rank).allReduce(buffers, DataType.FLOAT32, ReduceOp.SUM))
					.isInstanceOf(CollectiveMismatchException.class);
				return null;
			});
		}
	}

	/** The elements of different buffers would be combined. */
	@ParameterizedTest
	@EnumSource
	void listsOfTheSameSizesInAnotherOrderAreAMismatch(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				MemorySegment small = MemorySegment.ofArray(new float[3]);
				MemorySegment large = MemorySegment.ofArray(new float[5]);
				assertThatThrownBy(() -> world.group(rank)
					.allReduce((rank == 0) ? List.of(small, large) : List.of(large, small), DataType.FLOAT32,
							ReduceOp.SUM))
					.isInstanceOf(CollectiveMismatchException.class)
					.hasMessageContaining("(count 8 of several buffers, digest of all their sizes ");
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLargeBufferAmongSmallOnesInAnotherOrderIsAMismatch(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				MemorySegment small = MemorySegment.ofArray(new float[4]);
				MemorySegment large = MemorySegment.ofArray(new float[30_000]);
				assertThatThrownBy(() -> world.group(rank)
					.allReduce((rank == 0) ? List.of(small, large) : List.of(large, small), DataType.FLOAT32,
							ReduceOp.SUM))
					.isInstanceOf(CollectiveMismatchException.class)
					.hasMessageContaining("(count 30000 of several buffers, digest of all their sizes ");
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void buffersThatOverlapAreRefusedAndTheGroupStaysUsable(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment heap = MemorySegment.ofArray(new float[8]);
				MemorySegment host = Arena.ofAuto().allocate(32, 4);
				for (MemorySegment whole : List.of(heap, host)) {
					MemorySegment other = MemorySegment.ofArray(new float[3]);
					for (List<MemorySegment> buffers : List.of(List.of(whole, whole), List.of(whole, other, whole),
							List.of(whole.asSlice(12, 20), other, whole.asSlice(0, 16)))) {
						assertThatThrownBy(() -> group.allReduce(buffers, DataType.FLOAT32, ReduceOp.SUM))
							.isInstanceOf(IllegalArgumentException.class)
							.hasMessageContaining("must not overlap");
						assertThatThrownBy(() -> group.allReduceAsync(buffers, DataType.FLOAT32, ReduceOp.SUM))
							.isInstanceOf(IllegalArgumentException.class);
					}
					MemorySegment empty = whole.asSlice(4, 0);
					group.allReduce(List.of(whole.asSlice(16), empty, whole.asSlice(0, 16), empty), DataType.FLOAT32,
							ReduceOp.SUM);
				}
				return null;
			});
		}
	}

	/** Tensors of a model may share memory. */
	@ParameterizedTest
	@EnumSource
	void buffersOfABroadcastMayOverlap(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				int[] values = { 10 * rank, 10 * rank + 1, 10 * rank + 2 };
				MemorySegment whole = MemorySegment.ofArray(values);
				world.group(rank).broadcast(List.of(whole, whole.asSlice(4), whole.asSlice(0, 8)), DataType.INT32, 1);
				assertThat(values).containsExactly(10, 11, 12);
				return null;
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void aBufferClosedBeforeItsTurnBreaksTheGroupInsteadOfDelayingIt(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			Arena arena = Arena.ofShared();
			List<MemorySegment> buffers = List.of(arena.allocate(64), arena.allocate(64));
			var first = world.group(0).barrierAsync();
			var second = world.group(0).allReduceAsync(buffers, DataType.FLOAT32, ReduceOp.SUM);
			arena.close();
			world.group(1).barrier();
			first.await();
			assertThatThrownBy(second::await).isInstanceOf(RuntimeException.class);
			assertThatThrownBy(() -> world.group(1).allReduce(new float[32], ReduceOp.SUM))
				.isInstanceOf(CollectiveException.class);
			assertThat(world.group(0).state()).isEqualTo(GroupState.BROKEN);
		}
	}

}
