package io.tutti.engine.device;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.tutti.engine.Deadline;

/**
 * Waiting for a device, which wakes nobody: looks often at first, then every half
 * millisecond, until a deadline. So a wait can end where a device never does.
 */
public final class IdleWait {

	private static final int SPINS = 200;

	private static final long FIRST_NANOS = 5_000;

	private static final long LONGEST_NANOS = 500_000;

	private IdleWait() {
	}

	/**
	 * Waits until something is so; an interrupt ends the wait early and stays set.
	 * @return whether it was so before the deadline or an interrupt
	 */
	public static boolean until(BooleanSupplier done, Deadline deadline) {
		long pause = FIRST_NANOS;
		for (int round = 0; !done.getAsBoolean(); round++) {
			if (deadline.expired() || Thread.currentThread().isInterrupted()) {
				return false;
			}
			if (round < SPINS) {
				Thread.onSpinWait();
			}
			else {
				LockSupport.parkNanos(pause);
				pause = Math.min(2 * pause, LONGEST_NANOS);
			}
		}
		return true;
	}

}
