package io.tutti.engine.failure;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class FailureLatchTest {

	private static final Duration LIMIT = Duration.ofMillis(300);

	private static final Duration LONG_LIMIT = Duration.ofSeconds(30);

	private final FailureLatch latch = new FailureLatch();

	private final List<Failure> reports = new ArrayList<>();

	private final Failure seen = Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(1), "seen here");

	private final Failure verdict = Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(0), "seen first");

	@AfterEach
	void clearTheInterrupt() {
		Thread.interrupted();
	}

	@Test
	void anInterruptedThreadWaitsForTheVerdictToo() {
		Thread.currentThread().interrupt();
		assertThat(agree(LONG_LIMIT, (failure) -> Thread.ofVirtual().start(() -> this.latch.trip(this.verdict))))
			.isEqualTo(this.verdict);
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void anInterruptDuringTheWaitDoesNotEndTheWait() {
		Thread caller = Thread.currentThread();
		assertThat(agree(LONG_LIMIT, (failure) -> Thread.ofVirtual().start(() -> {
			while (caller.getState() != Thread.State.TIMED_WAITING) {
				Thread.onSpinWait();
			}
			caller.interrupt();
			while (caller.isInterrupted()) {
				Thread.onSpinWait();
			}
			this.latch.trip(this.verdict);
		}))).isEqualTo(this.verdict);
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void withoutAVerdictTheFailureReportsTheActualWaitTime() {
		Thread.currentThread().interrupt();
		long start = System.nanoTime();
		Failure cause = agree(LIMIT, (failure) -> {
		});
		Duration waited = Duration.ofNanos(System.nanoTime() - start);
		assertThat(waited).isGreaterThanOrEqualTo(LIMIT);
		assertThat(Duration.parse(cause.detail())).isBetween(LIMIT, waited);
		assertThat(this.latch.failure()).isEqualTo(cause);
	}

	@Test
	void aLongReasonIsTheSameOnTheAbortingRankAsOnTheOthers() throws Exception {
		String reason = "x".repeat(8190) + "\uD83D\uDE00".repeat(2);
		Failure own = Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(1), reason);
		assertThat(own.detail()).hasSize(8191).endsWith("x…");
		assertThat(decoded(own)).isEqualTo(own);
		Failure longest = own.withDetail("y".repeat(8192));
		assertThat(decoded(longest).detail()).hasSize(8192);
	}

	private static Failure decoded(Failure failure) throws Exception {
		return RecordCodec.decode(Failure.class, ByteBuffer.wrap(RecordCodec.encode(failure)));
	}

	@Test
	void theFirstVerdictStays() {
		assertThat(this.latch.failure()).isNull();
		assertThat(this.latch.trip(this.verdict)).isTrue();
		assertThat(this.latch.trip(this.seen)).isFalse();
		assertThat(this.latch.failure()).isEqualTo(this.verdict);
	}

	@Test
	void theWaitForTheVerdictEndsAfterTheWakeUp() {
		Thread waiter = Thread.ofVirtual().start(() -> this.latch.await(LONG_LIMIT));
		AtomicBoolean waited = new AtomicBoolean();
		this.latch.onFailure(() -> waited.set(!endsWithin(LIMIT, waiter)));
		this.latch.trip(this.verdict);
		assertThat(waited).isTrue();
		assertThat(endsWithin(LONG_LIMIT, waiter)).isTrue();
	}

	private static boolean endsWithin(Duration limit, Thread thread) {
		try {
			return thread.join(limit);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void aFailureAfterTheVerdictIsNotReported() {
		this.latch.trip(this.verdict);
		this.latch.reportTo(GroupIdentity.world(1, 2, 0), this.reports::add, LIMIT);
		CollectiveException thrown = this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, this.seen, null));
		assertThat(thrown.failure()).isEqualTo(this.verdict);
		assertThat(this.reports).isEmpty();
	}

	@Test
	void theFailureOfManyOperationsIsReportedOnce() {
		this.latch.reportTo(GroupIdentity.world(1, 2, 0), (failure) -> {
			this.reports.add(failure);
			this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, this.seen, null));
		}, Duration.ofMillis(1));
		this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, this.seen, null));
		assertThat(this.reports).containsExactly(this.seen);
	}

	@Test
	void aDifferentFailureIsReportedWhileTheVerdictIsOutstanding() {
		Failure other = this.seen.withDetail("a root cause");
		this.latch.reportTo(GroupIdentity.world(1, 2, 0), (failure) -> {
			this.reports.add(failure);
			if (failure.equals(this.seen)) {
				this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, this.seen, null));
				this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, other, null));
			}
			else {
				this.latch.trip(this.verdict);
			}
		}, Duration.ofMillis(1));
		this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, other, null));
		assertThat(this.reports).containsExactly(other);
		assertThat(this.latch.failure()).isEqualTo(this.verdict);
	}

	@Test
	void oneOfManyVerdictsBreaksTheGroup() throws Exception {
		AtomicInteger first = new AtomicInteger();
		List<Thread> threads = IntStream.range(0, 16).mapToObj((rank) -> Thread.startVirtualThread(() -> {
			if (this.latch.trip(this.seen.withDetail("by " + rank))) {
				first.incrementAndGet();
			}
		})).toList();
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(first).hasValue(1);
	}

	private Failure agree(Duration limit, java.util.function.Consumer<Failure> judge) {
		this.latch.reportTo(GroupIdentity.world(1, 2, 0), new FailureReporter() {
			@Override
			public void report(Failure failure) {
				FailureLatchTest.this.reports.add(failure);
				judge.accept(failure);
			}

			@Override
			public Failure withoutVerdict(Failure failure, Duration waited) {
				return failure.withDetail(waited.toString());
			}
		}, limit);
		Failure agreed = this.latch.reportAndAwaitVerdict(CollectiveException.of(1, 4, this.seen, null)).failure();
		assertThat(this.reports).containsExactly(this.seen);
		return agreed;
	}

}
