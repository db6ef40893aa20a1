package io.tutti.engine.p2p;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * A thread that does a task whenever it is woken; it starts with the first time.
 */
final class ParkedWorker implements AutoCloseable {

	private final String name;

	private final Runnable task;

	private volatile @Nullable Thread thread;

	private volatile boolean wanted;

	private volatile boolean closed;

	ParkedWorker(String name, Runnable task) {
		this.name = name;
		this.task = task;
	}

	/** Has the task done, once more if it is being done. */
	void wake() {
		this.wanted = true;
		Thread running = this.thread;
		LockSupport.unpark((running != null) ? running : start());
	}

	private synchronized @Nullable Thread start() {
		if (this.thread == null && !this.closed) {
			this.thread = Thread.ofPlatform().name(this.name).daemon().start(this::run);
		}
		return this.thread;
	}

	private void run() {
		while (!this.closed) {
			if (this.wanted) {
				this.wanted = false;
				this.task.run();
			}
			else {
				LockSupport.park(this);
			}
		}
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

}
