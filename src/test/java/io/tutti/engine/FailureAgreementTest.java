package io.tutti.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class FailureAgreementTest {

	private static final Duration PATIENCE = Duration.ofMillis(300);

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
		assertThat(settle((failure) -> Thread.ofVirtual().start(() -> this.latch.trip(this.verdict))))
			.isEqualTo(this.verdict);
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void aThreadThatIsInterruptedWhileItWaitsGoesOnWaiting() {
		Thread caller = Thread.currentThread();
		assertThat(settle((failure) -> Thread.ofVirtual().start(() -> {
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
	void withoutAVerdictItSaysHowLongItReallyWaited() {
		Thread.currentThread().interrupt();
		long start = System.nanoTime();
		Failure cause = settle((failure) -> {
		});
		Duration waited = Duration.ofNanos(System.nanoTime() - start);
		assertThat(waited).isGreaterThanOrEqualTo(PATIENCE);
		assertThat(Duration.parse(cause.detail())).isBetween(PATIENCE, waited);
		assertThat(this.latch.failure()).isEqualTo(cause);
	}

	private Failure settle(java.util.function.Consumer<Failure> judge) {
		FailureAgreement agreement = new FailureAgreement(GroupIdentity.world(1, 2, 0), this.latch,
				new FailureReporter() {
					@Override
					public void report(Failure failure) {
						FailureAgreementTest.this.reports.add(failure);
						judge.accept(failure);
					}

					@Override
					public Failure unjudged(Failure failure, Duration waited) {
						return failure.withDetail(waited.toString());
					}
				}, PATIENCE);
		Failure settled = agreement.settle(CollectiveException.of(1, this.seen, null)).failure();
		assertThat(this.reports).containsExactly(this.seen);
		return settled;
	}

}
