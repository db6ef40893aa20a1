package io.tutti.engine.transport.shm;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.Connections;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks exchange bytes through the message rings, each through its own mapping, and
 * sleep at times. Every byte must arrive once and in order, also after its sender has
 * left.
 */
@Timeout(60)
class RingConnectionsStressTest {

	private static final Duration LIMIT = Duration.ofSeconds(50);

	private static final long STREAM_BYTES = 24_000_000;

	/** More than the capacity of a ring. */
	private static final int MOST_BYTES = 300_000;

	private final long seed = Long.getLong("tutti.test.seed", System.nanoTime());

	@TempDir
	private Path directory;

	/** One rank's connections, and the stream to the other rank once it exists. */
	private static final class End implements Connections.Handler, AutoCloseable {

		private final HostMemory memory;

		private final RingConnections wires;

		private final int peer;

		private final Deadline deadline = Deadline.after(Duration.ofSeconds(30));

		private ByteStream stream;

		End(HostMemory memory) {
			this.memory = memory;
			this.wires = new RingConnections(memory, memory.members(), false);
			this.peer = 1 - memory.self();
		}

		@Override
		public void arrived(int from, ByteStream arrived) {
			assertThat(from).isEqualTo(this.peer);
			assertThat(this.stream).as("a stream from an earlier connection").isNull();
			this.stream = arrived;
		}

		@Override
		public void failed(int from, IOException cause) {
			throw new AssertionError("no way to rank " + from, cause);
		}

		ByteStream meet() {
			while (this.stream == null) {
				if (!this.wires.poll(this)) {
					idle(true);
				}
			}
			return this.stream;
		}

		void idle(boolean sleeps) {
			if (this.deadline.expired()) {
				throw new AssertionError("nothing came");
			}
			if (sleeps) {
				this.wires.prepareSleep(this.peer);
				this.wires.sleep(1_000_000);
			}
			else {
				Thread.yield();
			}
		}

		@Override
		public void close() {
			this.wires.close();
			this.memory.close();
		}

	}

	private List<HostMemory> shared() throws Exception {
		return HostPair.memories(new SharedMemorySettings(this.directory, "stress"));
	}

	@Test
	void everyByteArrivesOnceInOrderAlsoAfterTheSenderLeaves() throws Exception {
		List<HostMemory> memories = shared();
		try {
			RankThreads.run(2, LIMIT, (rank) -> {
				try (End end = new End(memories.get(rank)); Arena arena = Arena.ofConfined()) {
					end.wires.dial(end.peer);
					stream(end, arena);
				}
				return null;
			});
		}
		catch (AssertionError ex) {
			throw new AssertionError("failed with -Dtutti.test.seed=" + this.seed, ex);
		}
	}

	/** Rank 0 leaves when it is done, rank 1 after rank 0 has left. */
	private void stream(End end, Arena arena) throws IOException {
		ByteStream stream = end.meet();
		int self = 1 - end.peer;
		SplittableRandom random = new SplittableRandom(this.seed + self);
		MemorySegment going = arena.allocate(MOST_BYTES);
		MemorySegment coming = arena.allocate(MOST_BYTES);
		long sent = 0;
		long received = 0;
		while (sent < STREAM_BYTES || received < STREAM_BYTES) {
			long written = 0;
			if (sent < STREAM_BYTES) {
				int bytes = (int) Math.min(amount(random), STREAM_BYTES - sent);
				for (int i = 0; i < bytes; i++) {
					going.set(ValueLayout.JAVA_BYTE, i, content(self, sent + i));
				}
				written = stream.write(going.address(), bytes);
			}
			long read = stream.read(coming.address(), Math.min(amount(random), STREAM_BYTES - received));
			require(coming, read, end.peer, received);
			sent += written;
			received += read;
			if (written == 0 && read == 0) {
				end.idle(random.nextInt(4) == 0);
			}
		}
		if (self == 1) {
			awaitEnd(end, stream, coming);
		}
	}

	private static int amount(SplittableRandom random) {
		return switch (random.nextInt(8)) {
			case 0 -> 1;
			case 1 -> random.nextInt(1, MOST_BYTES);
			default -> random.nextInt(1, 700);
		};
	}

	private static byte content(int rank, long position) {
		return (byte) (position ^ position >>> 7 ^ position >>> 15 ^ position >>> 20 ^ rank * 0x55);
	}

	private static void require(MemorySegment coming, long bytes, int from, long position) {
		for (int i = 0; i < bytes; i++) {
			if (coming.get(ValueLayout.JAVA_BYTE, i) != content(from, position + i)) {
				throw new AssertionError("byte " + (position + i) + " from rank " + from + " is not what was sent");
			}
		}
	}

	private static void awaitEnd(End end, ByteStream stream, MemorySegment coming) throws IOException {
		try {
			while (true) {
				assertThat(stream.read(coming.address(), 1)).as("bytes that nobody sent").isZero();
				end.idle(true);
			}
		}
		catch (EOFException ex) {
			assertThat(ex).hasMessage("closed by the peer");
		}
	}

	@RepeatedTest(30)
	void theFirstMessageReachesItsReceiver() throws Exception {
		List<HostMemory> memories = shared();
		boolean bothDial = (this.seed & 1) == 0;
		RankThreads.run(2, LIMIT, (rank) -> {
			try (End end = new End(memories.get(rank)); Arena arena = Arena.ofConfined()) {
				if (rank == 0 || bothDial) {
					end.wires.dial(end.peer);
				}
				MemorySegment word = arena.allocate(8, 8);
				if (rank == 0) {
					word.set(ValueLayout.JAVA_LONG, 0, 42);
					assertThat(end.meet().write(word.address(), 8)).isEqualTo(8);
				}
				else {
					ByteStream stream = end.meet();
					while (stream.read(word.address(), 8) == 0) {
						end.idle(true);
					}
					assertThat(word.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
				}
			}
			return null;
		});
	}

}
