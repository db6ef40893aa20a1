package io.tutti.engine.transport.shm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.CollectiveTimeoutException;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.IssuedCall;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two ranks in one thread, so that the test controls the order of steps.
 */
@Timeout(60)
class SymmetricBuffersTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@TempDir
	private Path directory;

	private List<ShmTransport> ranks;

	@BeforeEach
	void shareMemory() throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		SharedMemorySettings settings = new SharedMemorySettings(this.directory, "buffers");
		this.ranks = RankThreads.run(2, LIMIT, (rank) -> {
			GroupIdentity identity = GroupIdentity.world(rank, 2, 0);
			HostMemory memory = HostHandshake.establish(identity, exchange.rank(rank), settings,
					CollectiveListener.NONE, Deadline.after(LIMIT));
			return new ShmTransport(identity, new FailureLatch(), memory, settings, true, CollectiveListener.NONE);
		});
	}

	@AfterEach
	void close() {
		this.ranks.forEach(ShmTransport::close);
	}

	/** The caller of a failed call may have changed the buffer. */
	@Test
	void aBufferOfARankWhoseCallHasFailedIsNotTrusted() {
		this.ranks.get(0).enter(IssuedCall.barrier(2, LIMIT));
		this.ranks.get(0).buffers().finish();
		this.ranks.get(1).enter(IssuedCall.barrier(2, Duration.ofMillis(200)));
		SymmetricBuffers reader = this.ranks.get(1).buffers();
		reader.finish();
		reader.awaitFinished();
		this.ranks.get(0).fail();
		assertThatThrownBy(() -> reader.requireUnchanged(0)).isInstanceOf(CollectiveTimeoutException.class);
		assertThatThrownBy(reader::awaitFinished).isInstanceOf(CollectiveTimeoutException.class);
	}

}
