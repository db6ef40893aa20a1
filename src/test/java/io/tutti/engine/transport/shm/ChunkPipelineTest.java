package io.tutti.engine.transport.shm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.spi.IssuedCall;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks in one thread that are in a call, so that the test controls the order of
 * steps.
 */
@Timeout(60)
class ChunkPipelineTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final long SLOT_BYTES = ChunkPipeline.BYTES / 2;

	@TempDir
	private Path directory;

	private List<ShmTransport> ranks;

	@BeforeEach
	void enter() throws Exception {
		this.ranks = HostPair.transports(new SharedMemorySettings(this.directory, "pipeline"));
		for (ShmTransport rank : this.ranks) {
			rank.enter(IssuedCall.barrier(2, LIMIT));
			rank.slots().post();
			rank.pipeline().begin(SLOT_BYTES);
		}
	}

	@AfterEach
	void close() {
		this.ranks.forEach(ShmTransport::close);
	}

	@Test
	void aRankThatHasNotPutAChunkIsAwaited() {
		ChunkPipeline own = this.ranks.get(0).pipeline();
		own.put(0);
		assertThat(own.hasPut(0, 0)).isTrue();
		assertThat(own.hasPut(1, 0)).isFalse();
		requireAwaited(1);
		this.ranks.get(1).pipeline().put(0);
		requireAwaited();
	}

	@Test
	void aRankThatHasNotReducedItsPartIsAwaited() {
		ChunkPipeline own = this.ranks.get(0).pipeline();
		own.reduced(0);
		assertThat(own.hasReduced(1, 0)).isFalse();
		requireAwaited(1);
		this.ranks.get(1).pipeline().reduced(0);
		requireAwaited();
	}

	@Test
	void aRankThatHasNotTakenAChunkIsAwaited() {
		ChunkPipeline own = this.ranks.get(0).pipeline();
		own.taken(0);
		assertThat(own.free(1)).isTrue();
		requireAwaited();
		assertThat(own.free(2)).isFalse();
		requireAwaited(1);
		this.ranks.get(1).pipeline().taken(0);
		requireAwaited();
	}

	/** A rank that is not the root of a broadcast never puts a chunk. */
	@Test
	void aRankThatWasNotAskedForAChunkIsNotAwaited() {
		assertThat(this.ranks.get(0).pipeline().hasPut(0, 0)).isFalse();
		requireAwaited();
	}

	@Test
	void nothingIsAwaitedFromACallBefore() {
		ChunkPipeline own = this.ranks.get(0).pipeline();
		assertThat(own.hasPut(1, 0)).isFalse();
		own.end(1);
		requireAwaited();
	}

	private void requireAwaited(Integer... awaited) {
		assertThat(this.ranks.get(0).awaited()).containsExactly(awaited);
	}

}
