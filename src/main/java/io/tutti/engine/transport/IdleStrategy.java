package io.tutti.engine.transport;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.tutti.engine.spi.Deadline;

/**
 * How a thread waits while nothing moves: it spins, then yields the core, then sleeps. An
 * idle core takes 50 to 100 µs to wake, so sleep starts late where each rank has a core;
 * spinning without yielding starves the other ranks of an oversubscribed host, so it is
 * short. Whether waiting can still end well is checked before each yield and sleep, and
 * from time to time also while data moves. Allocates nothing; for one thread at a time.
 */
public final class IdleStrategy {

	/** What a thread waits for. */
	public interface Condition {

		/**
		 * Checks deadline, failure of the group and interrupt.
		 * @throws RuntimeException if the wait cannot end well
		 */
		void check(long nowNanos);

		/** Sleeps until something may move, for at most that long. */
		void sleep(long maxNanos);

	}

	/**
	 * When a thread stops to spin and to yield, and how long it sleeps.
	 *
	 * @param spins rounds before the first yield
	 * @param yields rounds of yields, however long they take
	 * @param yieldNanos time of yields, however many they are; the longer of the two
	 * counts
	 * @param sleepNanos first sleep; each further one is twice as long
	 * @param longestSleepNanos longest sleep
	 */
	public record Limits(int spins, int yields, long yieldNanos, long sleepNanos, long longestSleepNanos) {

		private static final long YIELD_NANOS = 300_000;

		/**
		 * Bounds how late a failure is seen where nothing wakes the thread.
		 */
		public static final long SLEEP_NANOS = 20_000_000;

		/** A collective. */
		public static final Limits COLLECTIVE = new Limits(64, 0, YIELD_NANOS, SLEEP_NANOS, SLEEP_NANOS);

		/**
		 * A collective where ranks share cores. Yields are counted: one that lets a rank
		 * work lasts as long as its work, but ranks that wait on one core only hand it to
		 * each other, and keep it from a rank that waits for another.
		 */
		public static final Limits OVERSUBSCRIBED_COLLECTIVE = new Limits(1, 200, 0, SLEEP_NANOS, SLEEP_NANOS);

		/**
		 * Ranks that share cores in one process, where every arrival wakes the thread. A
		 * thousand that looked every 20 ms would use a core for it.
		 */
		public static final Limits WOKEN = new Limits(1, 0, 0, SLEEP_NANOS, 32 * SLEEP_NANOS);

		/** A collective on a host that has fewer cores than ranks, or enough. */
		public static Limits collective(boolean oversubscribed) {
			return oversubscribed ? OVERSUBSCRIBED_COLLECTIVE : COLLECTIVE;
		}

		/**
		 * A message: a few times as long as an answer through memory takes, and as little
		 * as can be lost where the peer needs this core.
		 */
		public static final Limits MESSAGE = new Limits(16, 0, YIELD_NANOS, SLEEP_NANOS, SLEEP_NANOS);

		/**
		 * A message where ranks share cores: a yield lets another rank work, and starts
		 * at once, and sleep starts later.
		 */
		public static final Limits OVERSUBSCRIBED_MESSAGE = new Limits(1, 0, 10 * YIELD_NANOS, SLEEP_NANOS,
				SLEEP_NANOS);

		/** A library that wakes no thread: a late message waits for the sleep. */
		public static final Limits LIBRARY = new Limits(200, 0, 1_000_000, 100_000, 100_000);

		/** A device, which wakes no thread. */
		public static final Limits DEVICE = new Limits(200, 0, 0, 5_000, 500_000);

	}

	/**
	 * Rounds in which something moved between two checks: other ranks' data may keep a
	 * thread busy for ever. Such a round takes a microsecond or more, a check some tens
	 * of nanoseconds.
	 */
	private static final int BUSY_ROUNDS = 256;

	/**
	 * A thread that was stopped for longer, with its process or its virtual machine,
	 * looks again before its deadline is checked: the data may have arrived meanwhile.
	 */
	private static final long STOPPED_NANOS = 100_000_000;

	private final Limits limits;

	private final Condition condition;

	/** Counts up to the first round that neither spins nor yields, and no further. */
	private int idleRounds;

	private int busyRounds;

	private long idleSince;

	/** When the last round ended in which nothing moved. */
	private long stalledNanos;

	/** Whether the last check was left out after a stop; the next one is not. */
	private boolean looksAgain;

	private long sleepNanos;

	private boolean slept;

	public IdleStrategy(Limits limits, Condition condition) {
		this.limits = limits;
		this.condition = condition;
		this.sleepNanos = limits.sleepNanos();
	}

	/** Something moved in this round. */
	public void moved() {
		begin();
		if (++this.busyRounds % BUSY_ROUNDS == 0) {
			this.condition.check(System.nanoTime());
		}
	}

	/** A wait begins. */
	public void begin() {
		if (this.idleRounds != 0) {
			this.idleRounds = 0;
			this.sleepNanos = this.limits.sleepNanos();
			this.slept = false;
		}
	}

	/** Nothing moved in this round: spins, yields or sleeps. */
	public void stalled() {
		if (this.idleRounds < this.limits.spins()) {
			this.idleRounds++;
			Thread.onSpinWait();
			return;
		}
		long now = System.nanoTime();
		if (this.idleRounds == this.limits.spins()) {
			this.idleSince = now;
			this.stalledNanos = now;
		}
		if (this.idleRounds <= this.limits.spins() + this.limits.yields()) {
			this.idleRounds++;
		}
		long before = this.stalledNanos;
		this.stalledNanos = now;
		if (looksAgain(before, now)) {
			return;
		}
		this.condition.check(now);
		if (this.idleRounds <= this.limits.spins() + this.limits.yields()
				|| now - this.idleSince < this.limits.yieldNanos()) {
			Thread.yield();
			return;
		}
		this.slept = true;
		this.condition.sleep(this.sleepNanos);
		this.sleepNanos = Math.min(2 * this.sleepNanos, this.limits.longestSleepNanos());
	}

	/**
	 * Whether the deadline is not checked in this round, since the thread was stopped
	 * between the two times. True once for each stop.
	 */
	public boolean looksAgain(long beforeNanos, long nowNanos) {
		this.looksAgain = !this.looksAgain && nowNanos - beforeNanos > STOPPED_NANOS;
		return this.looksAgain;
	}

	/** How long nothing has moved, 0 while the thread still spins. */
	public long idleNanos(long nowNanos) {
		return (this.idleRounds > this.limits.spins()) ? nowNanos - this.idleSince : 0;
	}

	/** Whether the thread has slept since something last moved. */
	public boolean slept() {
		return this.slept;
	}

	/** Whether the thread no longer spins. */
	public boolean spun() {
		return this.idleRounds > this.limits.spins();
	}

	/**
	 * Waits for something that wakes no thread, such as a device; an interrupt ends the
	 * wait early and stays set.
	 * @return whether it is done before the deadline or an interrupt
	 */
	public static boolean await(BooleanSupplier done, Deadline deadline) {
		return await(done, () -> false, deadline);
	}

	/**
	 * As {@link #await(BooleanSupplier, Deadline)}, for a wait that can become pointless.
	 * @param pointless whether the wait ends early, such as after a failure of the group
	 * @return whether it is done before the end of the wait
	 */
	public static boolean await(BooleanSupplier done, BooleanSupplier pointless, Deadline deadline) {
		Polling polling = new Polling(pointless, deadline);
		IdleStrategy idle = new IdleStrategy(Limits.DEVICE, polling);
		while (!done.getAsBoolean()) {
			if (polling.over) {
				return false;
			}
			idle.stalled();
		}
		return true;
	}

	/** A wait until a deadline or an interrupt, or until it is pointless. */
	private static final class Polling implements Condition {

		private final BooleanSupplier pointless;

		private final Deadline deadline;

		private boolean over;

		Polling(BooleanSupplier pointless, Deadline deadline) {
			this.pointless = pointless;
			this.deadline = deadline;
		}

		@Override
		public void check(long nowNanos) {
			this.over = this.deadline.expired() || Thread.currentThread().isInterrupted()
					|| this.pointless.getAsBoolean();
		}

		@Override
		public void sleep(long maxNanos) {
			LockSupport.parkNanos(maxNanos);
		}

	}

}
