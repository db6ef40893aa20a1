package io.tutti.training.checkpoint;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The thread that writes checkpoints, one at a time. It starts with the first.
 */
final class WriterThread {

	private final ExecutorService thread;

	private final Duration patience;

	private final AtomicLong progress = new AtomicLong();

	private long seenProgress;

	private long seenNanos;

	/**
	 * Creates the thread.
	 * @param name name of the thread
	 * @param patience longest time without progress for which a write is awaited
	 */
	WriterThread(String name, Duration patience) {
		this.thread = Executors
			.newSingleThreadExecutor((task) -> Thread.ofPlatform().daemon().name(name).unstarted(task));
		this.patience = patience;
	}

	/** Writes a checkpoint after those before it. */
	<T> Future<T> submit(Callable<T> write) {
		this.seenNanos = System.nanoTime();
		return this.thread.submit(write);
	}

	/**
	 * Waits for a limited time until a write ends.
	 * @return whether it is to be awaited again: {@code false} once it has ended, or
	 * makes no progress any more
	 */
	boolean isWriting(Future<?> write, Duration longest) throws InterruptedException {
		long waitNanos = Math.min(longest.toNanos(), this.patience.toNanos());
		try {
			write.get(waitNanos, TimeUnit.NANOSECONDS);
			return false;
		}
		catch (ExecutionException ex) {
			return false;
		}
		catch (TimeoutException ex) {
			return hasPatience();
		}
	}

	private boolean hasPatience() {
		long now = System.nanoTime();
		long current = this.progress.get();
		if (current != this.seenProgress) {
			this.seenProgress = current;
			this.seenNanos = now;
		}
		return now - this.seenNanos < this.patience.toNanos();
	}

	/** Called by a write again and again. */
	void progressed() {
		this.progress.incrementAndGet();
	}

	/**
	 * Accepts no other checkpoint, and waits until all are written, also if this thread
	 * is interrupted.
	 * @return whether they are; {@code false} if the thread makes no progress any more
	 */
	boolean awaitEnd() {
		this.thread.shutdown();
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return awaitEndWithProgress();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private boolean awaitEndWithProgress() throws InterruptedException {
		long before;
		do {
			before = this.progress.get();
			if (this.thread.awaitTermination(this.patience.toNanos(), TimeUnit.NANOSECONDS)) {
				return true;
			}
		}
		while (this.progress.get() != before);
		return false;
	}

}
