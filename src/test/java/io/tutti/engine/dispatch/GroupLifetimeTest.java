package io.tutti.engine.dispatch;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.tutti.OwnThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class GroupLifetimeTest {

	private static final Duration LIMIT = Duration.ofSeconds(20);

	@Test
	void aSecondCallWaitsForTheFirst() throws Exception {
		CountDownLatch sent = new CountDownLatch(1);
		GroupLifetime lifetime = new GroupLifetime(List.of(() -> join(sent)), LIMIT);
		CompletableFuture<Void> first = closing(lifetime);
		while (!lifetime.isClosed()) {
			Thread.onSpinWait();
		}
		CompletableFuture<Void> second = new CompletableFuture<>();
		Thread other = Thread.ofPlatform().start(() -> {
			lifetime.close();
			second.complete(null);
		});
		while (other.getState() != Thread.State.TIMED_WAITING) {
			assertThat(second).isNotDone();
			Thread.onSpinWait();
		}
		sent.countDown();
		assertThat(first).succeedsWithin(LIMIT);
		assertThat(second).succeedsWithin(LIMIT);
	}

	@Test
	void aSecondCallEndsAtItsLimit() {
		CountDownLatch sent = new CountDownLatch(1);
		GroupLifetime lifetime = new GroupLifetime(List.of(() -> join(sent)), Duration.ofMillis(10));
		CompletableFuture<Void> first = closing(lifetime);
		while (!lifetime.isClosed()) {
			Thread.onSpinWait();
		}
		lifetime.close();
		assertThat(first).isNotDone();
		sent.countDown();
		assertThat(first).succeedsWithin(LIMIT);
	}

	@Test
	void whatIsBoundMayCloseTheGroupAgain() {
		GroupLifetime lifetime = new GroupLifetime(List.of(), LIMIT);
		lifetime.bind(lifetime::close);
		assertThat(closing(lifetime)).succeedsWithin(Duration.ofSeconds(5));
	}

	private static CompletableFuture<Void> closing(GroupLifetime lifetime) {
		return CompletableFuture.runAsync(lifetime::close, OwnThread.EXECUTOR);
	}

	private static void join(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
