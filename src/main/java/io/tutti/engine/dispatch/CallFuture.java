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
 * The future of an asynchronous call. Only the call itself completes it, so that it is
 * never done while the call may still access its buffers.
 * <p>
 * Other ranks take part in a call, so it cannot be cancelled. Attempts to cancel or
 * complete the future have no effect and return {@code false}. {@link #orTimeout} breaks
 * the group, as every deadline does. The other methods that complete a future from
 * outside are not supported. A dependent stage or a {@link #copy} is an ordinary future:
 * the caller may complete it at any time, so it does not show whether the buffers are
 * free.
 */
final class CallFuture<T> extends CompletableFuture<T> {

	private final Supplier<String> call;

	private final Consumer<String> abort;

	private CallFuture(Supplier<String> call, Consumer<String> abort) {
		this.call = call;
		this.abort = abort;
	}

	/**
	 * Creates the future that the caller gets.
	 * @param engine the engine's internal future of the call
	 * @param call description of the call
	 * @param abort breaks the group with a reason, which ends the call
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
	 * Aborts the group on every rank if the call is not done in time. This future fails
	 * once the abort has ended the call.
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
