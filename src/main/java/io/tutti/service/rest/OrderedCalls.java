package io.tutti.service.rest;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs calls one after the other on its own thread, in the order of their numbers. The
 * order is the same on every rank, whatever the order in which requests learn their
 * numbers.
 */
final class OrderedCalls implements AutoCloseable {

	private final ExecutorService thread;

	private final Map<Long, Runnable> early = new HashMap<>();

	private long next;

	OrderedCalls(String threadName) {
		this.thread = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name(threadName).factory());
	}

	/** Runs a call when its number is next; each number is submitted once. */
	synchronized <T> CompletableFuture<T> submit(long number, Callable<T> call) {
		CompletableFuture<T> result = new CompletableFuture<>();
		this.early.put(number, () -> {
			try {
				result.complete(call.call());
			}
			catch (Exception | LinkageError | OutOfMemoryError ex) {
				result.completeExceptionally(ex);
			}
		});
		for (Runnable due = this.early.remove(this.next); due != null; due = this.early.remove(this.next)) {
			this.next++;
			this.thread.execute(due);
		}
		return result;
	}

	@Override
	public void close() {
		this.thread.shutdownNow();
	}

}
