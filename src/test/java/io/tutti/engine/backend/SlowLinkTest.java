package io.tutti.engine.backend;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.RankThreads.RankTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks over TCP; rank 1 reaches rank 0 over a slow link. If a deadline passes while
 * data still moves, the message says so and names the other rank.
 */
@Timeout(120)
class SlowLinkTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Duration DEADLINE = Duration.ofSeconds(2);

	/** Amount of data that takes the link about 16 s. */
	private static final int BYTES = 16 << 20;

	/** Of native memory, since a heap array is copied within the deadline. */
	private final List<MemorySegment> buffers = List.of(Arena.ofAuto().allocate(BYTES), Arena.ofAuto().allocate(BYTES));

	private SlowLink link;

	private List<Engine> engines = List.of();

	@BeforeEach
	void join() throws Exception {
		int rendezvous = FreePort.next();
		int data = FreePort.next();
		this.link = new SlowLink(data);
		this.engines = RankThreads.run(2, LIMIT, (rank) -> Engine.join(RankAssignment.onOneHost(rank, 2, rendezvous),
				settings((rank == 0) ? data : 0), CollectiveListener.NONE));
	}

	private static EngineSettings settings(int dataPort) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		return new EngineSettings(defaults.backend(), "slow", "a token", -1, null,
				(dataPort != 0) ? SlowLink.ADDRESS : null, "127.0.0.1", dataPort, defaults.congestionControl(),
				new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE),
				new Timeouts(LIMIT, LIMIT, LIMIT, Duration.ofSeconds(10), LIMIT), null);
	}

	@AfterEach
	void close() throws IOException {
		this.engines.reversed().forEach(Engine::close);
		this.link.close();
	}

	/** Rank 1 connects, over the slow link, before the deadline runs. */
	private List<Outcome<Void>> run(RankTask<Void> task) throws Exception {
		return RankThreads.outcomes(2, LIMIT, (rank) -> {
			group(rank).barrier();
			MemorySegment one = MemorySegment.ofArray(new byte[1]);
			if (rank == 1) {
				group(rank).send(one, DataType.INT8, 0, 0);
			}
			else {
				group(rank).receive(one, DataType.INT8, 1, 0);
			}
			return task.run(rank);
		});
	}

	private ProcessGroup group(int rank) {
		return this.engines.get(rank).world();
	}

	private static void requireSlow(List<Outcome<Void>> outcomes, String moved) {
		assertThat(outcomes).allSatisfy((outcome) -> {
			Throwable failure = (outcome.failure() instanceof CompletionException ex) ? ex.getCause()
					: outcome.failure();
			assertThat(failure).isInstanceOf(CollectiveTimeoutException.class)
				.hasMessageContaining("data moves too slowly: ")
				.hasMessageMatching(".*" + moved + ", the last \\d+ ms ago.*")
				.hasMessageNotContaining("no data");
			assertThat(((CollectiveException) failure).failure().ranks()).hasSize(1);
		});
	}

	@Test
	void aCollectiveReportsTheBytesMovedAndNamesTheRank() throws Exception {
		List<Outcome<Void>> outcomes = run((rank) -> {
			group(rank).withTimeout(DEADLINE).broadcast(this.buffers.get(rank), DataType.INT8, 1);
			return null;
		});
		requireSlow(outcomes, "rank [01]: \\d+ bytes received, \\d+ bytes sent");
	}

	@Test
	void aSendReportsTheBytesMoved() throws Exception {
		List<Outcome<Void>> outcomes = run((rank) -> {
			if (rank == 1) {
				group(rank).withTimeout(DEADLINE).send(this.buffers.get(rank), DataType.INT8, 0, 3);
			}
			else {
				group(rank).receive(this.buffers.get(rank), DataType.INT8, 1, 3);
			}
			return null;
		});
		requireSlow(outcomes,
				"waiting for rank 0: rank 1's send to rank 0 with tag 3 .* [1-9]\\d* of " + BYTES + " bytes so far");
	}

	@Test
	void aReceiveReportsTheBytesMoved() throws Exception {
		List<Outcome<Void>> outcomes = run((rank) -> {
			if (rank == 1) {
				group(rank).sendAsync(this.buffers.get(rank), DataType.INT8, 0, 3).toFuture().join();
			}
			else {
				group(rank).withTimeout(DEADLINE).receive(this.buffers.get(rank), DataType.INT8, 1, 3);
			}
			return null;
		});
		requireSlow(outcomes, "waiting for rank 1: rank 0's receive from rank 1 with tag 3 .* [1-9]\\d* of " + BYTES
				+ " bytes so far");
	}

}
