package io.tutti.engine.dispatch;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Ends a group once: closes its parts in order, then releases what programs have bound to
 * it, the latest first. One that fails does not keep the others from running.
 */
final class GroupLifetime implements AutoCloseable {

	private final List<Runnable> parts;

	private final AtomicBoolean closed = new AtomicBoolean();

	/** {@code null} once these have run. */
	private @Nullable Deque<Runnable> bound = new ArrayDeque<>();

	/** By type and key. */
	private final Map<List<Object>, Object> shared = new ConcurrentHashMap<>();

	/**
	 * @param parts actions that close the group's parts, in order
	 */
	GroupLifetime(List<Runnable> parts) {
		this.parts = parts;
	}

	boolean isClosed() {
		return this.closed.get();
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
		if (this.closed.compareAndSet(false, true)) {
			Throwable failure = run(this.parts, null);
			failure = run(takeBound(), failure);
			if (failure instanceof Error error) {
				throw error;
			}
			if (failure instanceof RuntimeException ex) {
				throw ex;
			}
		}
	}

	private synchronized Collection<Runnable> takeBound() {
		Deque<Runnable> taken = Objects.requireNonNull(this.bound);
		this.bound = null;
		return taken;
	}

	/**
	 * Runs all actions.
	 * @return the first failure, with the later ones as suppressed
	 */
	private static @Nullable Throwable run(Collection<Runnable> actions, @Nullable Throwable earlier) {
		Throwable failure = earlier;
		for (Runnable action : actions) {
			try {
				action.run();
			}
			catch (RuntimeException | Error ex) {
				if (failure != null) {
					failure.addSuppressed(ex);
				}
				failure = (failure != null) ? failure : ex;
			}
		}
		return failure;
	}

}
