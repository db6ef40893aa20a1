package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.transport.shm.RecordingListener;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.SmallDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Buffers that the engine allocates in memory that all ranks can access.
 */
@Timeout(120)
class EngineBufferTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final long BYTES = 6 << 20;

	private static SharedWorld world(int worldSize) throws Exception {
		return new SharedWorld(worldSize, Timeouts.DEFAULTS.withCollective(LIMIT), SharedWorld.Ways.IN_PLACE);
	}

	/** Hands out consecutive parts of one buffer, aligned to 8 bytes and with gaps. */
	private static final class Parts implements Trial.Memory {

		private final MemorySegment buffer;

		private long used;

		Parts(MemorySegment buffer) {
			this.buffer = buffer;
		}

		@Override
		public MemorySegment allocate(long bytes) {
			MemorySegment part = this.buffer.asSlice(this.used, bytes);
			this.used += (bytes + 8 + 7) & -8;
			return part;
		}

	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 5, 8 })
	void everyCollectiveGivesTheSameResultOnEngineBuffers(int worldSize) throws Exception {
		try (SharedWorld world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment buffer = group.allocate(BYTES);
				for (Collective collective : Collective.values()) {
					for (CallSpec spec : CallSpec.of(collective, worldSize)) {
						runAndCheck(new Trial(group, spec, new Parts(buffer)));
					}
				}
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void ranksMayMixEngineBuffersWithOrdinaryOnes(int worldSize) throws Exception {
		try (SharedWorld world = world(worldSize); Arena arena = Arena.ofShared()) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment own = arena.allocate(BYTES, 64);
				MemorySegment first = group.allocate(BYTES);
				MemorySegment second = group.allocate(BYTES);
				int turn = rank;
				for (Collective collective : Collective.values()) {
					for (CallSpec spec : CallSpec.of(collective, worldSize)) {
						MemorySegment buffer = List.of(own, first, second).get(turn++ % 3);
						runAndCheck(new Trial(group, spec, new Parts(buffer)));
					}
				}
				return null;
			});
		}
	}

	/**
	 * Ranks read large messages in each other's engine buffers, and receive those in
	 * ordinary buffers as usual.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void messagesBetweenEngineAndOrdinaryBuffersArriveUnchanged(boolean attach) throws Exception {
		int[] sizes = { 0, 1, 65_536, 65_537, 131_072, 1_000_003, 3_000_000 };
		try (DepartureContract.DepartingWorld world = attach ? Worlds.memory(3) : Worlds.memoryWithoutAttach(3);
				Arena arena = Arena.ofShared()) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment[] buffers = { arena.allocate(BYTES), group.allocate(BYTES), group.allocate(BYTES) };
				for (int round = 0; round < 3 * sizes.length; round++) {
					int bytes = sizes[round / 3];
					int from = (rank + 2) % 3;
					MemorySegment sent = buffers[(round + rank) % 3].asSlice(round, bytes);
					MemorySegment received = buffers[(round + rank + 1) % 3].asSlice(BYTES / 2, BYTES / 2);
					fill(sent, round + rank);
					received.fill((byte) -1);
					long count = group.sendReceive(sent, (rank + 1) % 3, received.asSlice(0, bytes), from,
							DataType.INT8, round);
					assertThat(count).isEqualTo(bytes);
					MemorySegment expected = arena.allocate(bytes);
					fill(expected, round + from);
					assertThat(received.asSlice(0, bytes).mismatch(expected)).isEqualTo(-1);
					assertThat(received.get(ValueLayout.JAVA_BYTE, bytes)).isEqualTo((byte) -1);
				}
				return null;
			});
		}
	}

	private static void fill(MemorySegment buffer, int seed) {
		for (long i = 0; i < buffer.byteSize(); i++) {
			buffer.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + seed));
		}
	}

	/** A later buffer must not be taken for the one that the message refers to. */
	@Test
	void aMessageFromABufferThatIsFreedTooEarlyFailsOnBothRanks() throws Exception {
		try (DepartureContract.DepartingWorld world = Worlds.memory(2); Arena arena = Arena.ofShared()) {
			List<Outcome<Object>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				MemorySegment buffer = group.allocate(1_000_000);
				Work<Void> sent = (rank == 0) ? group.sendAsync(buffer, DataType.INT8, 1, 5) : null;
				group.free(buffer);
				group.allocate(1_000_000).fill((byte) 9);
				group.barrier();
				if (sent != null) {
					sent.await();
				}
				else {
					group.receive(arena.allocate(1_000_000), DataType.INT8, 0, 5);
				}
				return null;
			});
			assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNotNull());
			assertThat(outcomes.getFirst().failure()).hasMessageContaining("was closed: keep its arena open");
		}
	}

	private static void runAndCheck(Trial trial) {
		trial.run();
		trial.check();
	}

	@Test
	void engineBuffersAreZeroedAndEndWithTheGroup() throws Exception {
		List<MemorySegment> buffers;
		try (SharedWorld world = world(2)) {
			buffers = RankThreads.run(2, LIMIT, (rank) -> world.group(rank).allocate(10_001));
			for (MemorySegment buffer : buffers) {
				assertThat(buffer.byteSize()).isEqualTo(10_001);
				assertThat(buffer.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
			}
			buffers.get(0).fill((byte) 1);
			assertThat(buffers.get(1).get(ValueLayout.JAVA_BYTE, 0)).as("each rank has its own").isZero();
		}
		assertThat(buffers).allSatisfy((buffer) -> assertThat(buffer.scope().isAlive()).isFalse());
	}

	@Test
	void differentSizesAreRejectedOnEveryRank() throws Exception {
		try (SharedWorld world = world(3)) {
			List<Outcome<Object>> outcomes = RankThreads.outcomes(3, LIMIT,
					(rank) -> world.group(rank).allocate((rank == 1) ? 4096 : 8192));
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContainingAll("8192", "4096", "rank 1"));
			RankThreads.run(3, LIMIT, (rank) -> world.group(rank).allocate(4096));
		}
	}

	@Test
	void anEmptyBufferIsAllowedAndANegativeSizeIsRejected() throws Exception {
		try (SharedWorld world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				MemorySegment nothing = world.group(rank).allocate(0);
				assertThat(nothing.byteSize()).isZero();
				world.group(rank).allReduce(nothing, DataType.INT8, ReduceOp.SUM);
				return null;
			});
			assertThatThrownBy(() -> world.group(0).allocate(-1)).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("allocate: bytes must be at least 0, got -1");
		}
	}

	/** Otherwise the kernel would end this process. */
	@ParameterizedTest
	@ValueSource(longs = { 1L << 45, Long.MAX_VALUE })
	void aBufferThatExceedsTheMemoryIsRefusedOnEveryRankAndTheGroupStaysUsable(long bytes) throws Exception {
		try (SharedWorld world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> world.group(rank).allocate(bytes))
					.withMessageStartingWith(
							"rank " + rank + ": group world: allocate: no memory for " + bytes + " bytes: ")
					.withMessageContaining("a buffer of " + bytes + " bytes on each of 3 ranks needs more memory");
				int[] one = { 1 };
				world.group(rank).allReduce(one, ReduceOp.SUM);
				assertThat(one).containsExactly(3);
				return null;
			});
		}
	}

	@Test
	void aBufferOfAProcessThatExceedsTheMemoryIsRefusedWithItsPlace() throws Exception {
		try (World world = Worlds.simulated(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				assertThatExceptionOfType(OutOfMemoryError.class)
					.isThrownBy(() -> world.group(rank).allocate(Long.MAX_VALUE))
					.withMessageStartingWith(
							"rank " + rank + ": group world: allocate: no memory for " + Long.MAX_VALUE + " bytes");
				world.group(rank).barrier();
				return null;
			});
		}
	}

	@Test
	void aBufferThatDoesNotFitIsPlainMemoryAndCausesANote(@TempDir Path directory) throws Exception {
		RecordingListener events = new RecordingListener();
		try (SmallDirectory small = SmallDirectory.mount(directory);
				SharedWorld world = new SharedWorld(2, Timeouts.DEFAULTS, SharedWorld.Ways.IN_PLACE,
						new SharedMemorySettings(small.path(), "small"), events)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				MemorySegment buffer = world.group(rank).allocate(1 << 20);
				buffer.fill((byte) (rank + 1));
				world.group(rank).allReduce(buffer, DataType.INT8, ReduceOp.SUM);
				assertThat(buffer.toArray(ValueLayout.JAVA_BYTE)).containsOnly(3);
				return null;
			});
			assertThat(events.notes()).hasSize(2)
				.allSatisfy((note) -> assertThat(note).contains("is not shared between ranks", "needs 2 MiB",
						"1 MiB are free", "--shm-size"));
			assertThat(small.path()).isEmptyDirectory();
		}
	}

	@Test
	void resultsAreBitIdenticalToThoseOnOrdinaryBuffers() throws Exception {
		try (SharedWorld world = world(3)) {
			List<float[]> results = RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				float[] values = new float[300_001];
				for (int i = 0; i < values.length; i++) {
					values[i] = (float) Math.sin(i * 0.37 + rank) * 1e3f;
				}
				MemorySegment buffer = group.allocate(4L * values.length);
				MemorySegment.copy(values, 0, buffer, ValueLayout.JAVA_FLOAT, 0, values.length);
				group.allReduce(buffer, DataType.FLOAT32, ReduceOp.SUM);
				group.allReduce(values, ReduceOp.SUM);
				assertThat(buffer.toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(values);
				return values;
			});
			assertThat(results.get(1)).isEqualTo(results.get(0));
			assertThat(results.get(2)).isEqualTo(results.get(0));
		}
	}

}
