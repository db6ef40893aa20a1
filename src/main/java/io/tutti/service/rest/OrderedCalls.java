package io.tutti.service.rest;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.jspecify.annotations.Nullable;

/**
 * Runs calls one after the other on its own thread, in the order of their numbers. The
 * order is the same on every rank, whatever the order in which requests learn their
 * numbers.
 */
final class OrderedCalls {

	private final ExecutorService thread;

	private final Map<Long, Runnable> early = new HashMap<>();

	/** Results of the calls that have not begun. */
	private final Set<CompletableFuture<?>> waiting = new HashSet<>();

	private @Nullable RuntimeException closed;

	private long next;

	OrderedCalls(String threadName) {
		this.thread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name(threadName).factory());
	}

	/** Runs a call when its number is next; each number is submitted once. */
	synchronized <T> CompletableFuture<T> submit(long number, Callable<T> call) {
		CompletableFuture<T> result = new CompletableFuture<>();
		if (this.closed != null) {
			result.completeExceptionally(this.closed);
			return result;
		}
		this.waiting.add(result);
		this.early.put(number, () -> {
			if (!begin(result)) {
				return;
			}
			try {
				result.complete(call.call());
			}
			catch (Exception | Error ex) {
				result.completeExceptionally(ex);
			}
		});
		for (Runnable due = this.early.remove(this.next); due != null; due = this.early.remove(this.next)) {
			this.next++;
			this.thread.execute(due);
		}
		return result;
	}

	/** Throws the reason if all later calls fail. */
	synchronized void requireOpen() {
		if (this.closed != null) {
			throw this.closed;
		}
	}

	private synchronized boolean begin(CompletableFuture<?> result) {
		return this.waiting.remove(result);
	}

	/**
	 * Fails the calls that have not begun and all later ones: the call before them may
	 * never be submitted. The running call ends by itself, since it uses memory of its
	 * request.
	 */
	void end(RuntimeException reason) {
		List<CompletableFuture<?>> failed;
		synchronized (this) {
			this.closed = (this.closed != null) ? this.closed : reason;
			failed = List.copyOf(this.waiting);
			this.waiting.clear();
			this.early.clear();
		}
		this.thread.shutdown();
		failed.forEach((result) -> result.completeExceptionally(reason));
	}

	/** Also interrupts the running call. */
	void close(RuntimeException reason) {
		end(reason);
		this.thread.shutdownNow();
	}

}
