package io.tutti.engine.dispatch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class AllocatedBuffersTest {

	private static final Duration LIMIT = Duration.ofSeconds(15);

	@Test
	void aBufferThatOneRankHasNoMemoryForIsAllocatedOnNone() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				DefaultProcessGroup group = world.group(rank);
				Small backend = new Small((rank == 1) ? 16 : 1024);
				try (AllocatedBuffers buffers = new AllocatedBuffers(GroupIdentity.world(rank, 2, 0), backend)) {
					assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> buffers.allocate(group, 64))
						.withMessageStartingWith("rank " + rank + ": group world: allocate: no memory for 64 bytes"
								+ ((rank == 1) ? ": " + Small.MESSAGE : " on rank 1"));
					assertThat(backend.held).isZero();
					MemorySegment first = buffers.allocate(group, 8);
					MemorySegment second = buffers.allocate(group, 16);
					buffers.free(group, first);
					buffers.free(group, second);
					assertThat(backend.held).isZero();
				}
				return null;
			});
		}
	}

	/** Allocates up to a number of bytes at once. */
	private static final class Small implements GroupBackend {

		static final String MESSAGE = "the rank is small";

		private final long largest;

		private int held;

		Small(long largest) {
			this.largest = largest;
		}

		@Override
		public MemorySegment allocate(long bytes, Arena arena, MetadataExchange exchange, Deadline deadline) {
			if (bytes > this.largest) {
				throw new OutOfMemoryError(MESSAGE);
			}
			this.held++;
			return arena.allocate(bytes);
		}

		@Override
		public void free(MemorySegment buffer) {
			this.held--;
		}

		@Override
		public String name() {
			return "small";
		}

		@Override
		public String transport() {
			return "none";
		}

		@Override
		public void run(Call call) {
			throw new IllegalStateException("no call is expected");
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
