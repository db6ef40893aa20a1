package io.tutti.engine.transport.shm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.spi.IssuedCall;
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

}
