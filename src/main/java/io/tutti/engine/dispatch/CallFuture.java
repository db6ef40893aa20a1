package io.tutti.engine.dispatch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * An asynchronous call as its caller sees it: a future that the call alone completes, so
 * that it is not done while the call may still touch its buffers.
 * <p>
 * Other ranks take part in a call, so it cannot be taken back. To cancel or complete the
 * future changes nothing and returns {@code false}; {@link #orTimeout} breaks the group,
 * as every deadline does; the other methods that complete a future from outside are not
 * supported. What is derived from it, such as a dependent stage or a {@link #copy}, is an
 * ordinary future of the caller's, who may complete it at any time and learns nothing
 * about the buffers from it.
 */
final class CallFuture<T> extends CompletableFuture<T> {

	private final Supplier<String> call;

	private final Consumer<String> abort;

	private CallFuture(Supplier<String> call, Consumer<String> abort) {
		this.call = call;
		this.abort = abort;
	}

	/**
	 * The future of a call for its caller.
	 * @param engine the engine's own future of the call, which no caller gets
	 * @param call the call, in words
	 * @param abort breaks the group for a reason, and so ends the call
	 */
	static <T> CompletableFuture<T> of(CompletableFuture<T> engine, Supplier<String> call, Consumer<String> abort) {
		CallFuture<T> future = new CallFuture<>(call, abort);
		engine.whenComplete(future::end);
		return future;
	}

	private void end(T result, @Nullable Throwable failure) {
		if (failure == null) {
			super.complete(result);
		}
		else {
			Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : null;
			super.completeExceptionally((cause != null) ? cause : failure);
		}
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		return new CompletableFuture<>();
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		return false;
	}

	@Override
	public boolean complete(T value) {
		return false;
	}

	@Override
	public boolean completeExceptionally(Throwable ex) {
		return false;
	}

	/**
	 * Aborts the group on every rank if the call is not done in time; this future fails
	 * when that has ended the call.
	 */
	@Override
	public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
		copy().orTimeout(timeout, unit).exceptionally((ex) -> {
			if (ex instanceof TimeoutException && !isDone()) {
				Thread.startVirtualThread(() -> this.abort.accept(
						this.call.get() + " was not done within its caller's orTimeout of " + timeout + " " + unit));
			}
			return null;
		});
		return this;
	}

	@Override
	public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
		throw unsupported("completeOnTimeout");
	}

	@Override
	public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
		throw unsupported("completeAsync");
	}

	@Override
	public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
		throw unsupported("completeAsync");
	}

	@Override
	public void obtrudeValue(T value) {
		throw unsupported("obtrudeValue");
	}

	@Override
	public void obtrudeException(Throwable ex) {
		throw unsupported("obtrudeException");
	}

	private UnsupportedOperationException unsupported(String method) {
		return new UnsupportedOperationException(method + " on the future of a " + this.call.get()
				+ ": the call alone completes it; use a copy() of it");
	}

}
