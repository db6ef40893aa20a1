package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.spi.IssuedCall;
import io.tutti.engine.transport.CallWait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks in one thread, so that the test controls the order of steps.
 */
@Timeout(60)
class RingLinkTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@TempDir
	private Path directory;

	/** It may be all that a peer with an empty part sends. */
	@Test
	void aPeerWhoseFingerprintHasArrivedIsNotAwaited() throws Exception {
		List<ShmTransport> ranks = HostPair.transports(new SharedMemorySettings(this.directory, "links"));
		try {
			ShmTransport late = ranks.get(0);
			ShmTransport waiting = ranks.get(1);
			waiting.begin(IssuedCall.barrier(2, LIMIT));
			late.begin(IssuedCall.barrier(2, LIMIT));
			assertThat(waiting.link(0).fingerprintReceived()).isFalse();
			assertThat(waiting.awaited()).containsExactly(0);
			assertThat(late.link(1).sendFingerprint()).isTrue();
			assertThat(waiting.link(0).fingerprintReceived()).isTrue();
			assertThat(waiting.awaited()).isEmpty();
		}
		finally {
			ranks.forEach(ShmTransport::close);
		}
	}

	/** Its bytes would be reported as those of the next one. */
	@Test
	void whatACallHasMovedIsNotThatOfTheNextOne() throws Exception {
		List<ShmTransport> ranks = HostPair.transports(new SharedMemorySettings(this.directory, "links"));
		try (Arena arena = Arena.ofConfined()) {
			long bytes = arena.allocate(100).address();
			ranks.forEach((rank) -> rank.begin(IssuedCall.barrier(2, LIMIT)));
			assertThat(ranks.get(0).link(1).send(bytes, 100)).isEqualTo(100);
			assertThat(ranks.get(1).link(0).receive(bytes, 100)).isEqualTo(100);
			assertThat(ranks.get(1).moved(0)).isEqualTo(new CallWait.Moved(100, 0));
			assertThat(ranks.get(0).moved(1)).isEqualTo(new CallWait.Moved(0, 100));
			ranks.forEach((rank) -> rank.enter(IssuedCall.barrier(2, LIMIT)));
			assertThat(ranks.get(1).moved(0)).isEqualTo(CallWait.Moved.NONE);
			assertThat(ranks.get(0).moved(1)).isEqualTo(CallWait.Moved.NONE);
		}
		finally {
			ranks.forEach(ShmTransport::close);
		}
	}

}
