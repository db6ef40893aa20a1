package io.tutti.engine.dispatch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * Ends a group once: closes its parts in order, then releases what programs have bound to
 * it, the latest first. One that fails does not keep the others from running. Later calls
 * wait for the first, since messages may still be sent.
 */
final class GroupLifetime implements AutoCloseable {

	private final List<Runnable> parts;

	private final Duration limit;

	private final AtomicReference<@Nullable Thread> closing = new AtomicReference<>();

	private final CountDownLatch ended = new CountDownLatch(1);

	/** {@code null} once these have run. */
	private @Nullable Deque<Runnable> bound = new ArrayDeque<>();

	/** By type and key. */
	private final Map<List<Object>, Object> shared = new ConcurrentHashMap<>();

	/**
	 * @param parts actions that close the group's parts, in order
	 * @param limit how long a call waits for another thread to close the group
	 */
	GroupLifetime(List<Runnable> parts, Duration limit) {
		this.parts = parts;
		this.limit = limit;
	}

	boolean isClosed() {
		return this.closing.get() != null;
	}

	/** Whether the group's parts are closed, so that nothing is left to wait for. */
	synchronized boolean hasEnded() {
		return this.bound == null;
	}

	/** Binds an action; runs it at once if the group is closed. */
	void bind(Runnable action) {
		synchronized (this) {
			if (this.bound != null) {
				this.bound.push(action);
				return;
			}
		}
		action.run();
	}

	/** The resource of this type and key; the first call creates and binds it. */
	<T> T shared(Class<T> type, Object key, Supplier<? extends T> creator, Consumer<? super T> release) {
		return type.cast(this.shared.computeIfAbsent(List.of(type, key), (_) -> {
			T created = creator.get();
			bind(() -> release.accept(created));
			return created;
		}));
	}

	@Override
	public void close() {
		Thread first = this.closing.compareAndExchange(null, Thread.currentThread());
		if (first != null) {
			if (first != Thread.currentThread()) {
				awaitEnd();
			}
			return;
		}
		CleanUp.runAll(
				List.of(() -> CleanUp.runAll(this.parts), () -> CleanUp.runAll(takeBound()), this.ended::countDown));
	}

	private void awaitEnd() {
		try {
			this.ended.await(this.limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private synchronized Collection<Runnable> takeBound() {
		Deque<Runnable> taken = Objects.requireNonNull(this.bound);
		this.bound = null;
		return taken;
	}

}
