package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that a stuck native call may hold forever. Waits have a limit, and work on
 * interrupted threads too, since these must be able to end a communicator.
 */
final class TimedLock {

	/** How long closing or aborting waits for another thread's native call. */
	static final Duration COURTESY = Duration.ofSeconds(1);

	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * Tries to lock. An interrupt set before the call stays set and is ignored; an
	 * interrupt during the wait ends it.
	 */
	boolean tryLock(long nanos) {
		boolean interrupted = Thread.interrupted();
		try {
			return this.lock.tryLock() || this.lock.tryLock(nanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			interrupted = true;
			return false;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Runs an action even if another thread's call does not return; waits
	 * {@link #COURTESY} for the lock first.
	 */
	void insist(Runnable action) {
		boolean locked = tryLock(COURTESY.toNanos());
		try {
			action.run();
		}
		finally {
			if (locked) {
				unlock();
			}
		}
	}

	void unlock() {
		this.lock.unlock();
	}

}
