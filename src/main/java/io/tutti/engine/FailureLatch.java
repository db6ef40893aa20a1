package io.tutti.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Whether a group is broken, and by what. The first failure stays; later ones change
 * nothing. Safe for any number of threads; a check costs one volatile read.
 */
public final class FailureLatch {

	private final CountDownLatch tripped = new CountDownLatch(1);

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

	/**
	 * Waits for a failure; an interrupt ends the wait early and stays set.
	 * @return the failure, or {@code null} if none came in time
	 */
	public @Nullable Failure await(Duration timeout) {
		try {
			this.tripped.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return this.failure;
	}

}
