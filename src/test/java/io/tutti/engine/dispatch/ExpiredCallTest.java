package io.tutti.engine.dispatch;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.CollectiveTimeoutException;
import io.tutti.Failure;
import io.tutti.Work;
import io.tutti.engine.Timeouts;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A call whose deadline passes while it waits for its turn: the other ranks must not get
 * the calls behind it in its place.
 */
@Timeout(60)
class ExpiredCallTest {

	private static final Duration LIMIT = Duration.ofSeconds(40);

	private static final Duration BRIEF = Duration.ofMillis(10);

	private final FailureLatch latch = new FailureLatch();

	private final Held backend = new Held();

	private final CompletableFuture<Failure> reported = new CompletableFuture<>();

	private final DefaultProcessGroup group = new DefaultProcessGroup(GroupIdentity.world(0, 1, 0), this.backend,
			this.latch, this.reported::complete, new Timeouts(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT));

	private final Work<Void> first = this.group.barrierAsync();

	@AfterEach
	void close() {
		this.group.close();
	}

	@Test
	void noCallRunsBetweenTheReportAndTheVerdict() throws Exception {
		Work<Void> expired = this.group.withTimeout(BRIEF).barrierAsync();
		requireNextWaitsForVerdict();
		assertThatThrownBy(expired::await).isInstanceOf(CollectiveTimeoutException.class);
	}

	@Test
	void soItIsBehindASynchronousCall() throws Exception {
		CompletableFuture<Void> expired = new CompletableFuture<>();
		Thread.ofPlatform()
			.daemon()
			.start(() -> expired.completeAsync(() -> barrier(this.group.withTimeout(BRIEF)), Runnable::run));
		requireNextWaitsForVerdict();
		assertThat(expired).failsWithin(LIMIT)
			.withThrowableThat()
			.withCauseInstanceOf(CollectiveTimeoutException.class);
	}

	private static Void barrier(DefaultProcessGroup group) {
		group.barrier();
		return null;
	}

	private void requireNextWaitsForVerdict() throws Exception {
		Failure failure = this.reported.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
		Work<Void> next = this.group.barrierAsync();
		this.backend.released.countDown();
		this.first.await();
		Thread worker = this.backend.worker;
		while (worker.getState() != Thread.State.WAITING && worker.getState() != Thread.State.TIMED_WAITING) {
			Thread.onSpinWait();
		}
		assertThat(this.backend.calls).hasValue(1);
		this.latch.trip(failure);
		assertThatThrownBy(next::await).isInstanceOf(CollectiveTimeoutException.class);
		assertThat(this.backend.calls).hasValue(1);
	}

	/** Calls last until they are released. */
	private static final class Held implements GroupBackend {

		private final CountDownLatch released = new CountDownLatch(1);

		private final AtomicInteger calls = new AtomicInteger();

		private volatile Thread worker = Thread.currentThread();

		@Override
		public String name() {
			return "held";
		}

		@Override
		public String transport() {
			return "none";
		}

		@Override
		public void run(Call call) {
			this.worker = Thread.currentThread();
			this.calls.incrementAndGet();
			try {
				this.released.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
