package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A call's deadline counts from the time of issue, also while it waits behind a long
 * call.
 */
@Timeout(60)
class QueuedCallTest {

	private static final Timeouts LONG = Timeouts.DEFAULTS;

	private final SimulatedWorld world = new SimulatedWorld(2, LONG);

	private final ProcessGroup group = this.world.group(0);

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void aCallBehindALongOneFailsAtItsOwnDeadline() {
		CompletableFuture<Void> ahead = this.group.barrierAsync().toFuture();
		CollectiveTimeoutException late = catchThrowableOfType(CollectiveTimeoutException.class,
				() -> this.group.withTimeout(Duration.ofMillis(200)).barrier());
		assertNamesWhoHoldsUpTheFirst(late);
		assertThat(failure(ahead).failure()).isEqualTo(late.failure());
	}

	@Test
	void anAsynchronousCallBehindALongOneFailsAtItsOwnDeadline() {
		SimulatedWorld brief = new SimulatedWorld(2, LONG.withCollective(Duration.ofMillis(200)));
		try (brief) {
			CompletableFuture<Void> ahead = CompletableFuture
				.runAsync(() -> brief.group(0).withTimeout(Duration.ofMinutes(5)).barrier(), OwnThread.EXECUTOR);
			while (brief.group(0).lastEntered() < 0) {
				Thread.onSpinWait();
			}
			CollectiveTimeoutException late = failure(brief.group(0).barrierAsync().toFuture());
			assertNamesWhoHoldsUpTheFirst(late);
			assertThat(failure(ahead).failure()).isEqualTo(late.failure());
		}
	}

	@Test
	void aCallWhoseBufferWasClosedWhileItWaitedFailsOnBothRanks() {
		CompletableFuture<Void> ahead = this.group.barrierAsync().toFuture();
		CompletableFuture<Void> refused;
		try (Arena arena = Arena.ofShared()) {
			refused = this.group.allReduceAsync(arena.allocate(1 << 20), DataType.FLOAT32, ReduceOp.SUM).toFuture();
		}
		this.world.group(1).barrier();
		ahead.orTimeout(20, TimeUnit.SECONDS).join();
		assertThatThrownBy(() -> refused.orTimeout(20, TimeUnit.SECONDS).join())
			.hasRootCauseInstanceOf(IllegalStateException.class)
			.hasRootCauseMessage("buffer was closed before all-reduce #1: keep its arena open until the call returns"
					+ " or its future is done");
		assertThatThrownBy(() -> this.world.group(1)
			.allReduce(MemorySegment.ofArray(new float[1 << 18]), DataType.FLOAT32, ReduceOp.SUM))
			.isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("buffer was closed before all-reduce #1: keep its arena open");
	}

	private static void assertNamesWhoHoldsUpTheFirst(CollectiveTimeoutException late) {
		assertThat(late.failure().sequence()).isZero();
		assertThat(late.failure().ranks()).isEqualTo(List.of(1));
		assertThat(late.failure().timeout()).isEqualTo(Duration.ofMillis(200));
		assertThat(late.failure().elapsed()).isBetween(Duration.ofMillis(200), Duration.ofSeconds(20));
	}

	private static CollectiveTimeoutException failure(CompletableFuture<Void> call) {
		Throwable thrown = call.handle((done, ex) -> ex).orTimeout(20, TimeUnit.SECONDS).join();
		Throwable cause = (thrown instanceof java.util.concurrent.CompletionException) ? thrown.getCause() : thrown;
		assertThat(cause).isInstanceOf(CollectiveTimeoutException.class);
		return (CollectiveTimeoutException) cause;
	}

}
