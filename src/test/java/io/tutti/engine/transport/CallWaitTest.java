package io.tutti.engine.transport;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Yields on an oversubscribed host are counted and not timed, so that a test can count
 * them too.
 */
@Timeout(30)
class CallWaitTest {

	private static final int ROUNDS_AWAKE = 201;

	private final Arena arena = Arena.ofAuto();

	private final FailureLatch latch = new FailureLatch();

	private int sleeps;

	@Test
	void anOversubscribedRankYieldsACountedNumberOfTimesAndThenSleeps() {
		inACall((waiting) -> {
			stall(waiting, ROUNDS_AWAKE);
			assertThat(this.sleeps).isZero();
			// The round after a long pause of the thread does not count.
			stall(waiting, 2);
			assertThat(this.sleeps).isPositive();
		});
	}

	@Test
	void aMoveRestartsTheCount() {
		inACall((waiting) -> {
			stall(waiting, ROUNDS_AWAKE);
			waiting.moved();
			stall(waiting, ROUNDS_AWAKE);
			assertThat(this.sleeps).isZero();
		});
	}

	@Test
	void dataThatMovedLongBeforeTheDeadlineAreNotReportedAsSlow() {
		assertThat(CallWait.describe("5 bytes", Duration.ofMillis(999).toNanos()))
			.isEqualTo("data moves too slowly: 5 bytes, the last 999 ms ago");
		assertThat(CallWait.describe("5 bytes", Duration.ofSeconds(7).toNanos()))
			.isEqualTo("no data has moved for 7000 ms; before that 5 bytes");
	}

	@Test
	void aFailureOfTheGroupEndsACallAlsoWhileItsDataMoves() {
		assertThatThrownBy(() -> inACall((waiting) -> {
			this.latch.trip(Failure.outside(Failure.Kind.ABORTED, "world", List.of(1), "enough"));
			for (int round = 0; round < 1000; round++) {
				waiting.moved();
			}
		})).isInstanceOf(GroupAbortedException.class).hasMessageContaining("enough");
	}

	@Test
	void anInterruptEndsACallAlsoWhileItsDataMoves() {
		assertThatThrownBy(() -> inACall((waiting) -> {
			Thread.currentThread().interrupt();
			for (int round = 0; round < 1000; round++) {
				waiting.moved();
			}
		})).isInstanceOf(GroupAbortedException.class).hasMessageContaining("interrupted");
		assertThat(Thread.interrupted()).isTrue();
	}

	private static void stall(CallWait waiting, int rounds) {
		for (int round = 0; round < rounds; round++) {
			waiting.stalled();
		}
	}

	private void inACall(Consumer<CallWait> body) {
		GroupIdentity identity = GroupIdentity.world(0, 2, 0);
		FailureLatch latch = this.latch;
		CallContext frame = new CallContext(identity, latch, this.arena);
		CallWait waiting = new CallWait(frame, new Counted(), IdleStrategy.Limits.collective(true));
		try (ProcessGroup group = new DefaultProcessGroup(identity, new Alone(frame, () -> body.accept(waiting)), latch,
				latch::trip, Timeouts.DEFAULTS)) {
			group.barrier();
		}
	}

	private final class Counted implements CallWait.Peers {

		@Override
		public void sleep(long maxNanos) {
			CallWaitTest.this.sleeps++;
		}

		@Override
		public List<Integer> awaited() {
			return List.of(1);
		}

		@Override
		public CallWait.Moved moved(int peer) {
			return CallWait.Moved.NONE;
		}

	}

	/** Carries a call out by waiting in it. */
	private record Alone(CallContext frame, Runnable body) implements GroupBackend {

		@Override
		public String name() {
			return "alone";
		}

		@Override
		public String transport() {
			return "none";
		}

		@Override
		public void run(Call call) {
			this.frame.begin(call);
			this.body.run();
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
