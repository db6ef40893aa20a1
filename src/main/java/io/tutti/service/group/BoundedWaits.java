package io.tutti.service.group;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.tutti.GroupState;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Waits for other ranks on behalf of HTTP requests, and ends the waits when the
 * application stops. New waits are then refused. Waits in progress get a grace period and
 * are then interrupted, so that each request still gets its response.
 */
public final class BoundedWaits implements SmartLifecycle {

	/** Stops before the web server begins to wait for its requests. */
	static final int PHASE = WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE + 1;

	/** Less than the web server's own grace period for requests. */
	private static final Duration MOMENT = Duration.ofSeconds(1);

	private final Set<Thread> waiting = new HashSet<>();

	private final Duration moment;

	private volatile boolean running;

	private volatile boolean leaving;

	BoundedWaits() {
		this(MOMENT);
	}

	BoundedWaits(Duration moment) {
		this.moment = moment;
	}

	/**
	 * Waits on the calling thread.
	 * @throws GroupUnavailableException if this rank leaves before the wait is over
	 */
	public <T> T await(Supplier<T> wait) {
		enter();
		try {
			if (this.leaving) {
				throw leaving(null);
			}
			return wait.get();
		}
		catch (CancellationException ex) {
			throw leaving(ex);
		}
		finally {
			exit();
			// This thread still writes the response, over an interruptible channel.
			Thread.interrupted();
		}
	}

	private synchronized void enter() {
		this.waiting.add(Thread.currentThread());
	}

	private synchronized void exit() {
		this.waiting.remove(Thread.currentThread());
	}

	private static GroupUnavailableException leaving(@Nullable Throwable cause) {
		return new GroupUnavailableException(GroupStatus.of(GroupState.CLOSED), cause);
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.leaving = true;
		this.running = false;
		CompletableFuture.delayedExecutor(this.moment.toMillis(), TimeUnit.MILLISECONDS, Thread::startVirtualThread)
			.execute(this::end);
	}

	/**
	 * Interrupts no thread that has left its wait, since it may serve another request.
	 */
	private synchronized void end() {
		this.waiting.forEach(Thread::interrupt);
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** A wait belongs to a group that this rank does not join again. */
	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
