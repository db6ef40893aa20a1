package io.tutti.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Whether a group is broken, and by what; and which ranks have left it, so that the next
 * call that needs them breaks it. The first failure stays; later ones change nothing.
 * Safe for any number of threads; a check costs one volatile read.
 */
public final class FailureLatch {

	private final CountDownLatch tripped = new CountDownLatch(1);

	private final DepartedRanks departed = new DepartedRanks();

	private volatile @Nullable Failure failure;

	/**
	 * Breaks the group.
	 * @return whether this was the first failure
	 */
	public synchronized boolean trip(Failure failure) {
		if (this.failure != null) {
			return false;
		}
		this.failure = failure;
		this.tripped.countDown();
		return true;
	}

	/** The failure, or {@code null} while the group is whole. */
	public @Nullable Failure failure() {
		return this.failure;
	}

	/** The ranks that have left the group. */
	public DepartedRanks departed() {
		return this.departed;
	}

	/**
	 * Waits for a failure. An interrupt does not end the wait, since the failure is to be
	 * the same on every rank; it stays set.
	 * @return the failure, or {@code null} if none came in time
	 */
	public @Nullable Failure await(Duration timeout) {
		long endNanos = System.nanoTime() + timeout.toNanos();
		boolean interrupted = false;
		try {
			while (true) {
				try {
					this.tripped.await(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
					return this.failure;
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

}
