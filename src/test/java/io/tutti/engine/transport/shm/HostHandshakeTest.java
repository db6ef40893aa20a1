package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class HostHandshakeTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@TempDir
	private Path directory;

	private final List<RecordingListener> listeners = new ArrayList<>();

	/** A rank's input to the handshake. */
	private interface Ways {

		SharedMemorySettings settings(int rank);

		default MetadataExchange around(int rank, MetadataExchange exchange) {
			return exchange;
		}

	}

	private List<HostMemory> establish(int worldSize, Ways ways) throws Exception {
		LocalExchange exchange = new LocalExchange(worldSize);
		for (int rank = 0; rank < worldSize; rank++) {
			this.listeners.add(new RecordingListener());
		}
		return RankThreads.run(worldSize, LIMIT,
				(rank) -> HostHandshake.establish(GroupIdentity.world(rank, worldSize, 0),
						ways.around(rank, exchange.rank(rank)), ways.settings(rank), this.listeners.get(rank),
						Deadline.after(LIMIT)));
	}

	private SharedMemorySettings here() {
		return new SharedMemorySettings(this.directory, "handshake");
	}

	private void assertEveryRankReceivedTheNote(String... parts) {
		for (RecordingListener listener : this.listeners) {
			assertThat(listener.notes()).singleElement().asString().contains(parts);
		}
	}

	private static void assertEmpty(Path directory) throws IOException {
		try (Stream<Path> files = Files.walk(directory)) {
			assertThat(files.filter(Files::isRegularFile)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 13 })
	void ranksOfOneHostShareMemoryThatIsUnlinked(int worldSize) throws Exception {
		List<HostMemory> memories = establish(worldSize, (rank) -> here());
		assertEmpty(this.directory);
		for (int rank = 0; rank < worldSize; rank++) {
			assertThat(memories.get(rank).members()).hasSize(worldSize);
			assertThat(memories.get(rank).self()).isEqualTo(rank);
			NativeMemory.putLong(memories.get(rank).layout().pipeline(rank), 100 + rank);
		}
		for (HostMemory memory : memories) {
			for (int rank = 0; rank < worldSize; rank++) {
				assertThat(NativeMemory.getLong(memory.layout().pipeline(rank))).isEqualTo(100 + rank);
			}
			memory.close();
		}
		assertThat(this.listeners).allSatisfy((listener) -> assertThat(listener.notes()).isEmpty());
	}

	@Test
	void aSingleRankSharesNoMemoryAndGetsNoNote() throws Exception {
		assertThat(establish(1, (rank) -> here())).containsOnlyNulls();
		assertThat(this.listeners.get(0).notes()).isEmpty();
	}

	@Test
	void aRankWithoutSharedMemoryIsExcluded() throws Exception {
		Path missing = this.directory.resolve("missing");
		List<HostMemory> memories = establish(3,
				(rank) -> (rank == 1) ? new SharedMemorySettings(missing, "handshake") : here());
		assertThat(memories.get(1)).isNull();
		assertThat(memories.get(0).members()).containsExactly(0, 2);
		assertThat(memories.get(2).members()).containsExactly(0, 2);
		memories.get(0).close();
		memories.get(2).close();
	}

	@Test
	void ranksWithDifferentDirectoriesUseTcpAndNoteTheReason() throws Exception {
		Path other = Files.createDirectory(this.directory.resolve("other"));
		List<HostMemory> memories = establish(3,
				(rank) -> (rank == 2) ? new SharedMemorySettings(other, "handshake") : here());
		assertThat(memories).containsOnlyNulls();
		assertEveryRankReceivedTheNote("ranks 0, 1, 2", "TCP", "rank 2", "cannot open the memory that rank 0 created");
		assertEmpty(this.directory);
	}

	@Test
	void ranksOnDifferentMemoryDevicesUseTcpAndNoteTheReason() throws Exception {
		try (SmallDirectory small = SmallDirectory.mount(this.directory)) {
			List<HostMemory> memories = establish(2,
					(rank) -> (rank == 1) ? new SharedMemorySettings(small.path(), "handshake") : here());
			assertThat(memories).containsOnlyNulls();
			assertThat(this.listeners.get(0).notes()).singleElement()
				.asString()
				.contains("ranks 1 run on this machine", "TCP");
		}
	}

	@Test
	void tooLittleSpaceMeansTcpForAllAndANoteWithTheAction() throws Exception {
		try (SmallDirectory small = SmallDirectory.mount(this.directory)) {
			List<HostMemory> memories = establish(2, (rank) -> new SharedMemorySettings(small.path(), "handshake"));
			assertThat(memories).containsOnlyNulls();
			assertEveryRankReceivedTheNote("1 MiB are free", "--shm-size", "rank 0");
			assertEmpty(small.path());
		}
	}

	@Test
	void aCopyOfTheMemoryFailsTheVerification() throws Exception {
		Path other = Files.createDirectory(this.directory.resolve("other"));
		List<HostMemory> memories = establish(2, new Ways() {
			@Override
			public SharedMemorySettings settings(int rank) {
				return (rank == 1) ? new SharedMemorySettings(other, "handshake") : here();
			}

			@Override
			public MetadataExchange around(int rank, MetadataExchange exchange) {
				return (rank == 0) ? exchange : copyingTo(other, exchange);
			}
		});
		assertThat(memories).containsOnlyNulls();
		assertEveryRankReceivedTheNote("rank 1 maps other memory under the same name");
	}

	/**
	 * Copies the memory to another directory when the owner has announced it, in the
	 * second step of the exchange. It is unlinked after the third.
	 */
	private MetadataExchange copyingTo(Path other, MetadataExchange exchange) {
		AtomicInteger steps = new AtomicInteger();
		return (mine, deadline) -> {
			byte[][] all = exchange.allGather(mine, deadline);
			if (steps.incrementAndGet() == 2) {
				try (Stream<Path> files = Files.list(this.directory)) {
					for (Path file : files.filter(Files::isRegularFile).toList()) {
						Files.copy(file, other.resolve(file.getFileName()));
					}
				}
			}
			return all;
		};
	}

	/** Whether the ranks may read each other's private memory. */
	private static void assertReading(List<HostMemory> memories, boolean reading) {
		assertThat(memories).doesNotContainNull();
		try (Arena arena = Arena.ofShared()) {
			for (HostMemory memory : memories) {
				assertThat(memory.attach(arena) != null).isEqualTo(reading);
				memory.close();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void ranksReadEachOthersMemoryUnlessOneForbidsIt(boolean reading) throws Exception {
		assertReading(
				establish(2, (rank) -> new SharedMemorySettings(this.directory, "handshake", reading || rank == 0)),
				reading);
	}

	@Test
	void ranksInDifferentContainersDoNotReadEachOthersMemory() throws Exception {
		assertReading(establish(2, new Ways() {
			@Override
			public SharedMemorySettings settings(int rank) {
				return here();
			}

			@Override
			public MetadataExchange around(int rank, MetadataExchange exchange) {
				return (rank == 0) ? exchange : inAnotherProcessNamespace(exchange);
			}
		}), false);
	}

	/**
	 * Changes the namespace that the rank has written beside its process number before
	 * its answer, the third step of the exchange.
	 */
	private MetadataExchange inAnotherProcessNamespace(MetadataExchange exchange) {
		AtomicInteger steps = new AtomicInteger();
		return (mine, deadline) -> {
			if (steps.incrementAndGet() == 3) {
				try (Stream<Path> files = Files.list(this.directory);
						FileChannel memory = FileChannel.open(
								files.filter(Files::isRegularFile).findAny().orElseThrow(), StandardOpenOption.WRITE)) {
					long line = new HostLayout(2, 0).line(1, HostLayout.Line.PROCESS);
					memory.write(ByteBuffer.allocate(Long.BYTES).putLong(0, 1), line + 3 * Long.BYTES);
				}
			}
			return exchange.allGather(mine, deadline);
		};
	}

	@Test
	void aNameThatCannotBeRemovedMeansTcpForAllAndIsUnmapped() throws Exception {
		AtomicInteger steps = new AtomicInteger();
		List<HostMemory> memories = establish(2, new Ways() {
			@Override
			public SharedMemorySettings settings(int rank) {
				return here();
			}

			@Override
			public MetadataExchange around(int rank, MetadataExchange exchange) {
				return (mine, deadline) -> {
					byte[][] all = exchange.allGather(mine, deadline);
					if (rank == 0 && steps.incrementAndGet() == 3) {
						Irremovable.replaceIn(HostHandshakeTest.this.directory);
					}
					return all;
				};
			}
		});
		assertThat(memories).containsOnlyNulls();
		assertEveryRankReceivedTheNote("the memory's name cannot be removed");
		assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(this.directory.toString());
	}

	@Test
	void aFailedExchangeLeavesNoFile() throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		AtomicInteger steps = new AtomicInteger();
		MetadataExchange breaking = (mine, deadline) -> {
			byte[][] all = exchange.rank(0).allGather(mine, deadline);
			if (steps.incrementAndGet() == 2) {
				assertThat(Files.list(this.directory)).as("the memory still has a name").hasSize(1);
				while (!exchange.waiting()) {
					Thread.onSpinWait();
				}
				exchange.cut();
				throw new IOException("cut off");
			}
			return all;
		};
		List<Outcome<HostMemory>> outcomes = RankThreads.outcomes(2, LIMIT,
				(rank) -> HostHandshake.establish(GroupIdentity.world(rank, 2, 0),
						(rank == 0) ? breaking : exchange.rank(1), here(), new RecordingListener(),
						Deadline.after(LIMIT)));
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(IOException.class));
		assertEmpty(this.directory);
	}

}
