package io.tutti.engine.dispatch;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A backend whose failed calls may still use their memory when the group is closed.
 */
@Timeout(20)
class UnfinishedCallTest {

	/** The C library maps such a block separately and unmaps it when it is freed. */
	private static final int MAPPED_BYTES = 64 << 20;

	private final GroupIdentity identity = GroupIdentity.world(0, 1, 0);

	private final Unfinished backend = new Unfinished();

	@Test
	void theCloseDoesNotFreeTheStagedBuffer() throws Exception {
		FailureLatch latch = new FailureLatch();
		DefaultProcessGroup group = new DefaultProcessGroup(this.identity, this.backend, latch, latch::trip,
				Timeouts.DEFAULTS);
		assertThatExceptionOfType(GroupAbortedException.class)
			.isThrownBy(() -> group.broadcast(MemorySegment.ofArray(new byte[MAPPED_BYTES]), DataType.INT8, 0));
		group.close();
		assertThat(isMapped(this.backend.address)).isTrue();
	}

	@Test
	void theCloseDoesNotFreeAllocatedBuffers() {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			AllocatedBuffers buffers = new AllocatedBuffers(this.identity, this.backend);
			MemorySegment buffer = buffers.allocate(world.group(0), 8);
			buffers.close();
			assertThat(buffer.scope().isAlive()).isTrue();
		}
	}

	private static boolean isMapped(long address) throws IOException {
		return Files.readAllLines(Path.of("/proc/self/maps"))
			.stream()
			.map((line) -> line.split("[- ]", 3))
			.anyMatch((range) -> Long.compareUnsigned(Long.parseUnsignedLong(range[0], 16), address) <= 0
					&& Long.compareUnsigned(address, Long.parseUnsignedLong(range[1], 16)) < 0);
	}

	private static final class Unfinished implements GroupBackend {

		private long address;

		@Override
		public String name() {
			return "unfinished";
		}

		@Override
		public String transport() {
			return "none";
		}

		@Override
		public void run(Call call) {
			this.address = call.receiveAddress();
			throw new IllegalStateException("the call failed");
		}

		@Override
		public boolean mayStillUseMemory() {
			return true;
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
