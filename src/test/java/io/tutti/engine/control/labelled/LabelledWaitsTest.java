package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.OwnThread;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.RoundWait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class LabelledWaitsTest {

	private static final RoundWait WAIT = new RoundWait("a", RoundWait.NEXT, Duration.ofMinutes(1), null);

	private final CountDownLatch entered = new CountDownLatch(1);

	private final LabelledWaits waits = new LabelledWaits(1, 3, new SilentUplink(this.entered), Duration.ofSeconds(1));

	@Test
	void aWaitThatEndsBecauseThisRankLeavesNamesThisRank() throws Exception {
		CompletableFuture<CallMatch> waiting = CompletableFuture.supplyAsync(() -> this.waits.enter(WAIT, null),
				OwnThread.EXECUTOR);
		assertThat(this.entered.await(10, TimeUnit.SECONDS)).isTrue();
		this.waits.close();
		assertThat(waiting).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(CollectiveException.class, LabelledWaitsTest::requireOwnRank);
	}

	@Test
	void aWaitAfterThisRankHasLeftFailsTheSameWay() {
		this.waits.close();
		assertThatExceptionOfType(CollectiveException.class).isThrownBy(() -> this.waits.enter(WAIT, null))
			.satisfies(LabelledWaitsTest::requireOwnRank);
	}

	@Test
	void aRankThatRankZeroDoesNotAnswerLosesIt() {
		assertThatExceptionOfType(CollectiveException.class).isThrownBy(() -> unanswered(1))
			.satisfies((ex) -> assertThat(ex.failure().kind()).isEqualTo(Failure.Kind.PEER_LOST))
			.withMessageContaining("rank 0 lost: it did not answer at barrier a");
	}

	@Test
	void rankZeroDoesNotLoseItself() {
		assertThatExceptionOfType(CollectiveException.class).isThrownBy(() -> unanswered(0))
			.satisfies((ex) -> assertThat(ex.failure().kind()).isEqualTo(Failure.Kind.ABORTED))
			.withMessageContaining("its control thread did not answer at barrier a");
	}

	private CallMatch unanswered(int rank) {
		return new LabelledWaits(rank, 3, new SilentUplink(this.entered), Duration.ofMillis(10))
			.enter(new RoundWait("a", RoundWait.NEXT, Duration.ofMillis(10), null), null);
	}

	private static void requireOwnRank(CollectiveException failure) {
		assertThat(failure.failure().kind()).isEqualTo(Failure.Kind.PEER_LOST);
		assertThat(failure.failure().ranks()).containsExactly(1);
		assertThat(failure).hasMessageContaining("it has left the group");
	}

	/** Rank 0 does not answer. */
	private record SilentUplink(CountDownLatch entered) implements RankControl.Uplink {

		@Override
		public void send(Request request) {
			this.entered.countDown();
		}

		@Override
		public void execute(Runnable task) {
			throw new AssertionError("no task was expected");
		}

		@Override
		public void leave() {
			throw new AssertionError("the waits do not leave");
		}

	}

}
