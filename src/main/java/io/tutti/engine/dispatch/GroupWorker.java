package io.tutti.engine.dispatch;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import org.jspecify.annotations.Nullable;

/**
 * The single thread that runs a group's asynchronous calls in issue order. The thread
 * starts with the first such call.
 */
final class GroupWorker implements AutoCloseable {

	private final GroupIdentity identity;

	private final ThreadPoolExecutor executor;

	private volatile @Nullable Thread thread;

	GroupWorker(GroupIdentity identity) {
		this.identity = identity;
		String name = "tutti-r" + identity.worldRank() + "-" + identity.name() + "-worker";
		this.executor = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), (task) -> {
			Thread worker = Thread.ofPlatform().name(name).daemon().unstarted(task);
			this.thread = worker;
			return worker;
		});
	}

	boolean isCurrentThread() {
		return Thread.currentThread() == this.thread;
	}

	/**
	 * Draws a ticket and queues its task atomically, so that the queue holds tickets in
	 * order and no task waits for a later one. Starts the thread before, since a ticket
	 * whose task cannot run would hold up all later calls.
	 * @return the ticket
	 */
	synchronized long submit(LongSupplier draw, LongConsumer task) {
		if (this.executor.isShutdown()) {
			throw GroupStateException.closed(this.identity);
		}
		this.executor.prestartCoreThread();
		long ticket = draw.getAsLong();
		this.executor.execute(() -> task.accept(ticket));
		return ticket;
	}

	/** Accepts no new tasks. Queued tasks still run and find the group closed. */
	@Override
	public synchronized void close() {
		this.executor.shutdown();
	}

}
