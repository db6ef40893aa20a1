package io.tutti.engine.dispatch;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.Work;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Futures of an asynchronous call.
 */
@Timeout(60)
class EngineWorkTest {

	private final CompletableFuture<Integer> end = new CompletableFuture<>();

	private final Work<Integer> work = new EngineWork<>(this.end, "a call", (reason) -> {
		throw new AssertionError(reason);
	}, () -> false);

	@Test
	void pollingACallLeavesNothingBehind() throws Exception {
		for (int i = 0; i < 1000; i++) {
			assertThat(Work.awaitAny(List.of(this.work), Duration.ofNanos(1))).isNull();
		}
		assertThat(this.end.getNumberOfDependents()).isOne();
		WeakReference<CompletableFuture<Integer>> cancelled = cancelled();
		await().atMost(Duration.ofSeconds(30)).until(() -> {
			System.gc();
			return cancelled.get() == null;
		});
		this.end.complete(5);
		assertThat(Work.awaitAny(List.of(this.work), Duration.ofSeconds(1))).isSameAs(this.work);
	}

	private WeakReference<CompletableFuture<Integer>> cancelled() {
		CompletableFuture<Integer> copy = this.work.toFuture();
		copy.cancel(true);
		return new WeakReference<>(copy);
	}

	@Test
	void everyCopyEndsAsTheCallDoes() {
		CompletableFuture<Integer> one = this.work.toFuture();
		CompletableFuture<Integer> other = this.work.toFuture().thenApply((value) -> 2 * value);
		this.end.complete(7);
		assertThat(one).isCompletedWithValue(7);
		assertThat(other).isCompletedWithValue(14);
		assertThat(this.work.toFuture()).isCompletedWithValue(7);
	}

}
