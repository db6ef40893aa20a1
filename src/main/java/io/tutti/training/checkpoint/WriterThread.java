package io.tutti.training.checkpoint;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The thread that writes checkpoints, one at a time. It starts with the first.
 */
final class WriterThread {

	private final ExecutorService thread;

	private final Duration patience;

	private final AtomicLong progress = new AtomicLong();

	/**
	 * Creates the thread.
	 * @param name name of the thread
	 * @param patience longest time without progress that {@link #awaitEnd()} waits
	 */
	WriterThread(String name, Duration patience) {
		this.thread = Executors
			.newSingleThreadExecutor((task) -> Thread.ofPlatform().daemon().name(name).unstarted(task));
		this.patience = patience;
	}

	/** Writes a checkpoint after those before it. */
	<T> Future<T> submit(Callable<T> write) {
		return this.thread.submit(write);
	}

	/** Called by a write again and again. */
	void progressed() {
		this.progress.incrementAndGet();
	}

	/**
	 * Accepts no other checkpoint, and waits until all are written.
	 * @return whether they are; {@code false} if the thread makes no progress any more
	 */
	boolean awaitEnd() throws InterruptedException {
		this.thread.shutdown();
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
