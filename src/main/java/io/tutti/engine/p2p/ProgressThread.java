package io.tutti.engine.p2p;

import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.CollectiveException;
import org.jspecify.annotations.Nullable;

/**
 * Makes progress while no synchronous call does: completes asynchronous operations, sends
 * what small sends have left behind, and reads messages that arrive while this rank
 * computes or is inside a collective. After a second without a message it only polls, so
 * that an idle group costs nothing that can be measured and its peers wake nobody.
 */
final class ProgressThread implements AutoCloseable {

	/**
	 * How long the thread leaves progress to synchronous calls before it looks again
	 * whether they still make some.
	 */
	private static final long ASIDE_NANOS = 5_000_000;

	/** How long after the last message the thread still sleeps on the connections. */
	private static final long ALERT_NANOS = 1_000_000_000;

	private static final long SHORTEST_PAUSE_NANOS = 1_000_000;

	/**
	 * Longest pause between two polls of an idle group: what the first message to a rank
	 * that computes may wait for where the connection's own buffer cannot hold it.
	 */
	private static final long LONGEST_PAUSE_NANOS = 50_000_000;

	private final String name;

	private final ProgressEngine engine;

	private final MessageFailures failures;

	private final BlockingProgress blocking;

	private volatile @Nullable Thread thread;

	private volatile boolean closed;

	private int idleRounds;

	private int busyRounds;

	private long idleSince;

	private long pauseNanos = SHORTEST_PAUSE_NANOS;

	ProgressThread(String name, ProgressEngine engine, MessageFailures failures, BlockingProgress blocking) {
		this.name = name;
		this.engine = engine;
		this.failures = failures;
		this.blocking = blocking;
	}

	/** Starts the thread, or ends its pause. */
	void wake() {
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
		while (!this.closed && !this.engine.ended()) {
			if (this.engine.hasCaller()) {
				LockSupport.parkNanos(this, ASIDE_NANOS);
			}
			else if (this.engine.progress(ProgressEngine.ALL)) {
				moved();
			}
			else {
				idle();
			}
		}
	}

	private void moved() {
		this.idleRounds = 0;
		this.pauseNanos = SHORTEST_PAUSE_NANOS;
		if (++this.busyRounds % BlockingProgress.BUSY_ROUNDS == 0) {
			inspect(System.nanoTime());
		}
	}

	private void idle() {
		if (this.idleRounds++ < this.blocking.spins()) {
			Thread.onSpinWait();
			return;
		}
		long now = System.nanoTime();
		if (this.idleRounds == this.blocking.spins() + 1) {
			this.idleSince = now;
		}
		inspect(now);
		boolean unattended = this.engine.hasUnattended();
		if (unattended && now - this.idleSince < this.blocking.yieldNanos()) {
			Thread.yield();
		}
		else if (unattended || now - this.idleSince < ALERT_NANOS) {
			this.engine.sleep(Math.min(BlockingProgress.SLEEP_NANOS, soonestNanos(now)), null);
		}
		else {
			LockSupport.parkNanos(this, this.pauseNanos);
			this.pauseNanos = Math.min(2 * this.pauseNanos, LONGEST_PAUSE_NANOS);
		}
	}

	/**
	 * Fails everything if the group is broken or an asynchronous operation cannot end.
	 */
	private void inspect(long now) {
		this.engine.enter();
		try {
			this.failures.requireWhole();
			for (Operation operation : this.engine.postroom().open()) {
				if (operation.future != null) {
					this.failures.requireAlive(operation, now);
				}
			}
		}
		catch (CollectiveException ex) {
			this.engine.postroom().end(ex);
		}
		finally {
			this.engine.leave();
		}
	}

	private long soonestNanos(long now) {
		this.engine.enter();
		try {
			long soonest = BlockingProgress.SLEEP_NANOS;
			for (Operation operation : this.engine.postroom().open()) {
				if (operation.future != null) {
					soonest = Math.min(soonest, operation.stopwatch.remainingNanos(now) + 1);
				}
			}
			return Math.max(1, soonest);
		}
		finally {
			this.engine.leave();
		}
	}

	/** Ends the thread; does not wait for it. */
	@Override
	public synchronized void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

}
