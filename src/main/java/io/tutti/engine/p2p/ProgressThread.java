package io.tutti.engine.p2p;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.tutti.CollectiveException;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Makes progress while no synchronous call does, and checks the asynchronous operations
 * at all times: completes asynchronous operations, sends the queued messages of sends
 * that have returned, and reads messages that arrive while this rank computes or is
 * inside a collective. After a second without a message it only polls, so that an idle
 * group costs nothing measurable and its peers need not wake it. Reports an error also if
 * no operation fails with it.
 */
final class ProgressThread implements IdleStrategy.Condition, AutoCloseable {

	/**
	 * Time for which synchronous calls make progress before the thread checks again
	 * whether any still does.
	 */
	private static final long ASIDE_NANOS = 5_000_000;

	/** How long after the last message the thread still sleeps on the connections. */
	private static final long ALERT_NANOS = 1_000_000_000;

	private static final long SHORTEST_PAUSE_NANOS = 1_000_000;

	/**
	 * Longest pause between two polls of an idle group: the longest delay of the first
	 * message to a rank that computes, where the connection's buffer cannot hold it.
	 */
	private static final long LONGEST_PAUSE_NANOS = 50_000_000;

	private final String name;

	private final ProgressEngine engine;

	private final IdleStrategy idle;

	private volatile @Nullable Thread thread;

	private volatile boolean closed;

	private long pauseNanos = SHORTEST_PAUSE_NANOS;

	ProgressThread(String name, ProgressEngine engine, IdleStrategy.Limits limits) {
		this.name = name;
		this.engine = engine;
		this.idle = new IdleStrategy(limits, this);
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
		makeProgress();
		CollectiveException failure = this.engine.failure();
		if (failure != null) {
			this.engine.failures().report(failure);
		}
	}

	private void makeProgress() {
		while (!this.closed && !this.engine.ended()) {
			if (this.engine.hasCaller()) {
				standAside();
			}
			else if (this.engine.step(this.idle, ProgressEngine.ALL)) {
				this.pauseNanos = SHORTEST_PAUSE_NANOS;
			}
		}
	}

	/**
	 * Leaves progress to a synchronous call. After a stop of the process it may not have
	 * looked at the connections yet, so that one check is left out.
	 */
	private void standAside() {
		long before = System.nanoTime();
		LockSupport.parkNanos(this, ASIDE_NANOS);
		long now = System.nanoTime();
		if (!this.idle.looksAgain(before, now) && this.engine.hasUnattended()) {
			check(now);
		}
	}

	/**
	 * Fails everything if the group is broken or an asynchronous operation cannot end.
	 */
	@Override
	public void check(long nowNanos) {
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			this.engine.requireNotBroken();
			this.engine.failures().requireDelivered(nowNanos);
			List<MessageOperation> inFlight = this.engine.inFlight();
			// One that ends is replaced by the last one, which was checked before. The
			// request to cancel a send may complete others.
			for (int i = inFlight.size() - 1; i >= 0; i = Math.min(i, inFlight.size()) - 1) {
				if (inFlight.get(i).future != null) {
					this.engine.failures().requireAlive(inFlight.get(i), nowNanos);
				}
			}
		}
		catch (CollectiveException ex) {
			this.engine.end(ex);
			this.engine.failures().report(ex);
		}
		catch (RuntimeException | Error ex) {
			this.engine.end(this.engine.failures().broken(ex));
		}
	}

	@Override
	public void sleep(long maxNanos) {
		long now = System.nanoTime();
		if (this.engine.hasUnattended() || this.idle.idleNanos(now) < ALERT_NANOS) {
			this.engine.sleep(Math.min(maxNanos, soonestNanos(now)), null);
		}
		else {
			LockSupport.parkNanos(this, this.pauseNanos);
			this.pauseNanos = Math.min(2 * this.pauseNanos, LONGEST_PAUSE_NANOS);
		}
	}

	private long soonestNanos(long now) {
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			long soonest = IdleStrategy.Limits.SLEEP_NANOS;
			List<MessageOperation> inFlight = this.engine.inFlight();
			for (int i = 0; i < inFlight.size(); i++) {
				if (inFlight.get(i).future != null) {
					soonest = Math.min(soonest, inFlight.get(i).remainingNanos(now) + 1);
				}
			}
			return Math.max(1, soonest);
		}
	}

	/** Ends the thread; does not wait for it. */
	@Override
	public synchronized void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

}
