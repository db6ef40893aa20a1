package io.tutti.engine.dispatch;

import java.time.Duration;
import java.util.Set;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.tutti.CollectiveException;
import io.tutti.Work;
import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous call, completed by the engine's internal future, which no caller gets.
 */
final class EngineWork<T extends @Nullable Object> implements Work<T> {

	/** Longer than any call. */
	private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

	private final CompletableFuture<T> end;

	private final String call;

	private final Function<String, CollectiveException> abort;

	private final BooleanSupplier cancellation;

	/**
	 * Copies that are not completed yet, {@code null} until the first. A copy that its
	 * caller completes is removed: a future keeps its dependents until it ends, which may
	 * be never for a receive that a program polls.
	 */
	private @Nullable Set<CompletableFuture<T>> copies;

	/**
	 * @param end the engine's internal future of the call
	 * @param call description of the call
	 * @param abort breaks the group with a reason, which ends the call, and returns its
	 * failure
	 * @param cancellation withdraws the call; returns whether it did
	 */
	EngineWork(CompletableFuture<T> end, String call, Function<String, CollectiveException> abort,
			BooleanSupplier cancellation) {
		this.end = end;
		this.call = call;
		this.abort = abort;
		this.cancellation = cancellation;
	}

	@Override
	public T await() {
		await(FOREVER);
		return this.end.join();
	}

	@Override
	public boolean await(Duration limit) {
		Objects.requireNonNull(limit, "limit must not be null");
		try {
			this.end.get(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			throw interrupted();
		}
		catch (CancellationException ex) {
			throw CleanUp.unchecked(Objects.requireNonNull(failure()));
		}
		catch (ExecutionException ex) {
			throw CleanUp.unchecked(ex.getCause());
		}
	}

	/** Returns only once the call accesses its buffers no longer. */
	private RuntimeException interrupted() {
		CollectiveException broken = this.abort
			.apply("the calling thread was interrupted while it waited for " + this.call);
		try {
			awaitEnd();
			Throwable failure = failure();
			return (failure != null) ? CleanUp.unchecked(failure) : broken;
		}
		finally {
			Thread.currentThread().interrupt();
		}
	}

	private void awaitEnd() {
		this.end.handle((result, failure) -> null).join();
	}

	@Override
	public boolean isDone() {
		return this.end.isDone();
	}

	@Override
	public @Nullable Throwable failure() {
		return isDone() ? this.end.handle((result, failure) -> cause(failure)).join() : null;
	}

	private static @Nullable Throwable cause(@Nullable Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	@Override
	public CompletableFuture<T> toFuture() {
		CompletableFuture<T> copy = new CompletableFuture<>();
		Set<CompletableFuture<T>> open = copies();
		open.add(copy);
		copy.whenComplete((result, failure) -> open.remove(copy));
		if (isDone()) {
			complete(copy);
		}
		return copy;
	}

	/**
	 * A caller's actions run on the thread that completes the copy, so each copy has its
	 * own: waiting callers and other copies do not wait for them.
	 */
	private synchronized Set<CompletableFuture<T>> copies() {
		Set<CompletableFuture<T>> open = this.copies;
		if (open == null) {
			Set<CompletableFuture<T>> created = ConcurrentHashMap.newKeySet();
			this.end.whenComplete(
					(result, failure) -> created.forEach((copy) -> Thread.startVirtualThread(() -> complete(copy))));
			this.copies = created;
			return created;
		}
		return open;
	}

	/** Called after the call has ended. */
	private void complete(CompletableFuture<T> copy) {
		this.end.whenComplete((result, failure) -> {
			if (failure != null) {
				copy.completeExceptionally(Objects.requireNonNull(cause(failure)));
			}
			else {
				copy.complete(result);
			}
		});
	}

	@Override
	public boolean cancel() {
		boolean withdrawn = this.cancellation.getAsBoolean();
		if (withdrawn) {
			awaitEnd();
		}
		return withdrawn;
	}

	@Override
	public String toString() {
		return this.call + ": " + (isDone() ? (failure() != null) ? "failed" : "done" : "running");
	}

}
