package io.tutti.engine.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * The control thread of a process. It blocks only in its selector, which waits for
 * connections, tasks from other threads and timers.
 */
public final class ControlLoop {

	/** The work of the thread. */
	public interface Work {

		/** The thread has woken up and has not read from any channel yet. */
		void awake();

		/** A channel is ready. */
		void ready(SelectionKey key);

		/** All tasks and ready channels have been handled. */
		void tick();

		/** How long the thread may sleep, in nanoseconds. */
		long nanosUntilDue();

		/** The thread ends, in order or by an error. Releases all resources. */
		void ended();

	}

	private final Selector selector;

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final String name;

	private volatile boolean stopping;

	private volatile Thread thread;

	public ControlLoop(String name) throws IOException {
		this.name = name;
		this.selector = Selector.open();
		this.thread = Thread.currentThread();
	}

	/** Starts the thread. */
	public void start(Work work) {
		this.thread = Thread.ofPlatform().name(this.name).daemon().unstarted(() -> run(work));
		this.thread.start();
	}

	/** Registers a channel. Call before the start or on the control thread. */
	public SelectionKey register(SelectableChannel channel, int interest, Object attachment) throws IOException {
		return channel.register(this.selector, interest, attachment);
	}

	/** Queues a task for the control thread. It never runs if the thread has ended. */
	public void execute(Runnable task) {
		this.tasks.add(task);
		this.selector.wakeup();
	}

	/** Makes the thread end after its current iteration. */
	public void stop() {
		this.stopping = true;
		this.selector.wakeup();
	}

	/** Waits for the thread to end, unless it is the caller. An interrupt stays set. */
	public void join(Duration limit) {
		if (Thread.currentThread() == this.thread) {
			return;
		}
		try {
			this.thread.join(limit);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void run(Work work) {
		try (Selector open = this.selector) {
			while (!this.stopping) {
				select(work.nanosUntilDue());
				work.awake();
				runTasks();
				for (SelectionKey key : open.selectedKeys()) {
					if (key.isValid()) {
						work.ready(key);
					}
				}
				open.selectedKeys().clear();
				work.tick();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(this.name + ": the selector failed", ex);
		}
		finally {
			work.ended();
		}
	}

	private void select(long nanos) throws IOException {
		if (nanos <= 0 || !this.tasks.isEmpty()) {
			this.selector.selectNow();
			return;
		}
		this.selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
	}

	private void runTasks() {
		for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
			task.run();
		}
	}

}
