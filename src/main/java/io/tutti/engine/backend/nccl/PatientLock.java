package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that a native call may hold for ever: it is waited for by a deadline, on threads
 * that are interrupted too, since the end of a communicator must not depend on that.
 */
final class PatientLock {

	/** How long an end lets a native call of another thread come back by itself. */
	static final Duration COURTESY = Duration.ofSeconds(1);

	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * Whether it was to be had. An interrupt that was there before stays set and does not
	 * count; one that comes meanwhile ends the wait.
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
	 * Does what must be done whether or not another thread's call comes back: waits a
	 * moment for that first.
	 */
	void insist(Runnable action) {
		boolean alone = tryLock(COURTESY.toNanos());
		try {
			action.run();
		}
		finally {
			if (alone) {
				unlock();
			}
		}
	}

	void lock() {
		this.lock.lock();
	}

	void unlock() {
		this.lock.unlock();
	}

}
