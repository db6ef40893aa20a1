package io.tutti.engine.algorithm.shared;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.Collective;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.IssuedCall;
import io.tutti.engine.transport.shm.HostPair;
import io.tutti.engine.transport.shm.LocalExchange;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two ranks in one thread, so that the test controls the order of steps.
 */
@Timeout(60)
class SharedAllReduceTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	/** A share is several times what is reduced between two checks. */
	private static final int COUNT = 2 << 20;

	private static final int VALUE = 7;

	@TempDir
	private Path directory;

	private final Arena arena = Arena.ofShared();

	private List<ShmTransport> ranks;

	private List<MemorySegment> buffers;

	private List<Call> calls;

	@BeforeEach
	void enter() throws Exception {
		SharedMemorySettings settings = new SharedMemorySettings(this.directory, "all-reduce");
		this.ranks = HostPair.transports(settings);
		LocalExchange exchange = new LocalExchange(2);
		this.buffers = RankThreads.run(2, LIMIT, (rank) -> this.ranks.get(rank)
			.allocate(Integer.BYTES * (long) COUNT, this.arena, exchange.rank(rank), Deadline.after(LIMIT)));
		this.calls = List.of(enter(0), enter(1));
		for (int rank = 0; rank < 2; rank++) {
			assertThat(algorithm(rank).post(this.calls.get(rank), false)).isTrue();
		}
		this.buffers.get(1).setAtIndex(ValueLayout.JAVA_INT, COUNT - 1, VALUE);
		this.ranks.forEach((rank) -> rank.slots().awaitAll());
	}

	@AfterEach
	void close() {
		this.ranks.forEach(ShmTransport::close);
		this.arena.close();
	}

	/** Its caller may have put other values there. */
	@Test
	void nothingIsWrittenToTheBufferOfARankWhoseCallHasFailed() {
		this.ranks.get(0).fail();
		this.calls.get(1).deadline().restart(System.nanoTime(), Duration.ofMillis(200).toNanos());
		assertThatThrownBy(() -> algorithm(1).runDirectly(this.calls.get(1), true))
			.isInstanceOf(CollectiveTimeoutException.class);
		assertThat(last(0)).isZero();
	}

	/** The other rank's call has failed for the same reason. */
	@Test
	void aRankWhoseDeadlinePassesWritesNoFurther() {
		this.calls.get(1).deadline().restart(System.nanoTime() - 2, 1);
		assertThatThrownBy(() -> algorithm(1).runDirectly(this.calls.get(1), true))
			.isInstanceOf(CollectiveTimeoutException.class);
		assertThat(last(0)).isZero();
	}

	@Test
	void aRankWritesToTheBufferOfARankInTheCall() {
		algorithm(1).runDirectly(this.calls.get(1), true);
		assertThat(last(0)).isEqualTo(VALUE);
	}

	/** The last element is in the share of rank 1. */
	private int last(int rank) {
		return this.buffers.get(rank).getAtIndex(ValueLayout.JAVA_INT, COUNT - 1);
	}

	private SharedAllReduce algorithm(int rank) {
		return new SharedAllReduce(rank, 2, this.ranks.get(rank), ReductionKernels.get());
	}

	private Call enter(int rank) {
		MemorySegment buffer = this.buffers.get(rank);
		Call call = IssuedCall.barrier(2, LIMIT);
		call.describe(0, Collective.ALL_REDUCE, COUNT, DataType.INT32, ReduceOp.SUM, 0);
		call.place(buffer.address(), buffer.byteSize(), buffer.address(), buffer.byteSize());
		this.ranks.get(rank).enter(call);
		return call;
	}

}
