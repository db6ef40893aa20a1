package io.tutti.engine.dispatch;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
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

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Function<String, CollectiveException> NO_ABORT = (reason) -> {
		throw new AssertionError(reason);
	};

	private final CompletableFuture<Integer> end = new CompletableFuture<>();

	private final Work<Integer> work = new EngineWork<>(this.end, "a call", NO_ABORT, () -> false);

	@Test
	void pollingACallLeavesNothingBehind() throws Exception {
		for (int i = 0; i < 1000; i++) {
			assertThat(Work.awaitAny(List.of(this.work), Duration.ofNanos(1))).isNull();
		}
		assertThat(this.end.getNumberOfDependents()).isOne();
		WeakReference<CompletableFuture<Integer>> cancelled = cancelled();
		await().atMost(LIMIT).until(() -> {
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
		assertThat(one).succeedsWithin(LIMIT).isEqualTo(7);
		assertThat(other).succeedsWithin(LIMIT).isEqualTo(14);
		assertThat(this.work.toFuture()).isCompletedWithValue(7);
	}

	@Test
	void aCallbackDelaysNeitherAWaiterNorTheOtherCopies() {
		CompletableFuture<Integer> waited = new CompletableFuture<>();
		awaitState(Thread.State.TIMED_WAITING, start(() -> waited.complete(this.work.await())));
		List<CompletableFuture<Integer>> callbacks = Stream
			.generate(() -> this.work.toFuture().thenApply((value) -> waited.join()))
			.limit(2)
			.toList();
		start(() -> this.end.complete(7));
		assertThat(waited).succeedsWithin(LIMIT).isEqualTo(7);
		assertThat(callbacks).allSatisfy((callback) -> assertThat(callback).succeedsWithin(LIMIT));
	}

	@Test
	void aCancelledCallIsDoneWhenCancelReturns() {
		CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
		Work<Integer> withdrawn = new EngineWork<>(this.end, "a call", NO_ABORT, () -> true);
		awaitState(Thread.State.WAITING, start(() -> cancelled.complete(withdrawn.cancel() && withdrawn.isDone())));
		this.end.completeExceptionally(new CancellationException("withdrawn"));
		assertThat(cancelled).succeedsWithin(LIMIT).isEqualTo(true);
		assertThat(withdrawn.failure()).hasMessage("withdrawn");
	}

	private static Thread start(Runnable task) {
		return Thread.ofPlatform().daemon().start(task);
	}

	private static void awaitState(Thread.State state, Thread thread) {
		await().atMost(LIMIT).until(thread::getState, state::equals);
	}

}
