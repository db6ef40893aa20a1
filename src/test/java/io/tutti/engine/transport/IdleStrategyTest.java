package io.tutti.engine.transport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.spi.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class IdleStrategyTest {

	private static final IdleStrategy.Limits YIELDS = new IdleStrategy.Limits(1, 1000, 0, 1, 1);

	private int checks;

	private final IdleStrategy idle = new IdleStrategy(YIELDS, new IdleStrategy.Condition() {
		@Override
		public void check(long nowNanos) {
			IdleStrategyTest.this.checks++;
		}

		@Override
		public void sleep(long maxNanos) {
		}
	});

	/** What arrived meanwhile is seen by the next round only. */
	@Test
	void aThreadThatWasStoppedLooksOnceMoreBeforeItsDeadlineIsChecked() {
		for (int round = 0; this.checks < 2; round++) {
			assertThat(round).isLessThan(100);
			this.idle.stalled();
		}
		stop(Duration.ofMillis(150));
		this.idle.stalled();
		assertThat(this.checks).isEqualTo(2);
		for (int round = 0; this.checks < 3; round++) {
			assertThat(round).isLessThan(100);
			this.idle.stalled();
		}
	}

	/** A device may have finished meanwhile. */
	@Test
	void soDoesOneThatWaitsForADevice() {
		int stopped = IdleStrategy.Limits.DEVICE.spins() + 10;
		Duration limit = Duration.ofSeconds(1);
		AtomicInteger looks = new AtomicInteger();
		boolean done = IdleStrategy.await(() -> {
			if (looks.incrementAndGet() == stopped) {
				stop(limit.plusMillis(50));
			}
			return looks.get() > stopped;
		}, Deadline.after(limit));
		assertThat(done).isTrue();
	}

	@Test
	void aWaitForADeviceEndsAtItsDeadlineOrByAnInterrupt() {
		assertThat(IdleStrategy.await(() -> false, Deadline.after(Duration.ofMillis(1)))).isFalse();
		Thread.currentThread().interrupt();
		assertThat(IdleStrategy.await(() -> false, Deadline.after(Duration.ofHours(1)))).isFalse();
		assertThat(Thread.interrupted()).isTrue();
	}

	private static void stop(Duration time) {
		long startNanos = System.nanoTime();
		while (System.nanoTime() - startNanos < time.toNanos()) {
			LockSupport.parkNanos(time.toNanos());
		}
	}

}
