package io.tutti.benchmark;

import java.lang.foreign.MemorySegment;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class BuffersTest {

	@Test
	void engineMemoryIsFreedBeforeTheGroupCloses() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
				Buffers buffers = new Buffers(world.group(0), BufferKind.ENGINE, 4096)) {
			MemorySegment send = buffers.send(4096);
			MemorySegment receive = buffers.receive(4096);
			buffers.free();
			assertThat(send.scope().isAlive()).isFalse();
			assertThat(receive.scope().isAlive()).isFalse();
		}
	}

}
