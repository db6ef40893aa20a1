package io.tutti.engine.transport;

import java.util.List;

import io.tutti.engine.Call;
import io.tutti.engine.Failure;

/**
 * How a rank waits while nothing moves: it spins a little, then yields the core, then
 * sleeps. An idle core takes 50 to 100 µs to wake, so sleep comes late where each rank
 * has a core; spinning without yielding starves the other ranks of a crowded host, so it
 * is short.
 */
public final class Waiting {

	/** Puts the thread to sleep until something may move, and knows for whom it waits. */
	public interface Sleeper {

		/** Sleeps at most that long. */
		void sleep(long maxNanos);

		/** The ranks of the group that this one waits for. */
		List<Integer> awaited();

	}

	private static final int SPINS = 64;

	private static final long YIELD_NANOS = 300_000;

	/**
	 * Yields on a crowded host, however long they take: one that lets a rank work lasts
	 * as long as its work, but ranks that wait on one core only hand it to each other,
	 * and keep it from being given to a rank that waits for another.
	 */
	private static final int CROWDED_YIELDS = 200;

	/** Longest sleep: what bounds how late a failure is seen where nothing wakes us. */
	private static final long SLEEP_NANOS = 20_000_000;

	/**
	 * After so long without a move a call is compared with what other ranks have called:
	 * late enough that no healthy call pays for it, soon enough to tell within a second.
	 */
	private static final long COMPARE_AFTER_NANOS = 100_000_000;

	private final CallFrame frame;

	private final Sleeper sleeper;

	private final int spins;

	private final boolean crowded;

	private int idleRounds;

	private long idleSince;

	/**
	 * @param crowded whether the host has fewer cores than ranks: then a yield lets
	 * another rank work, and comes at once
	 */
	public Waiting(CallFrame frame, Sleeper sleeper, boolean crowded) {
		this.frame = frame;
		this.sleeper = sleeper;
		this.spins = crowded ? 1 : SPINS;
		this.crowded = crowded;
	}

	/** Something moved. */
	public void moved() {
		this.idleRounds = 0;
	}

	/** Nothing moved in this round. */
	public void stalled() {
		if (this.idleRounds++ < this.spins) {
			Thread.onSpinWait();
			return;
		}
		long now = System.nanoTime();
		if (this.idleRounds == this.spins + 1) {
			this.idleSince = now;
		}
		requireWorthWaiting();
		if (worthYielding(now)) {
			Thread.yield();
			return;
		}
		if (now - this.idleSince >= COMPARE_AFTER_NANOS) {
			this.frame.call().waited();
		}
		this.sleeper.sleep(Math.min(SLEEP_NANOS, this.frame.call().deadline().remainingNanos() + 1));
	}

	private boolean worthYielding(long now) {
		return this.crowded ? this.idleRounds <= this.spins + CROWDED_YIELDS : now - this.idleSince < YIELD_NANOS;
	}

	/**
	 * Checks that waiting may yet end well.
	 * @throws io.tutti.engine.CollectiveException if the deadline has passed, the group
	 * is broken, or the thread was interrupted
	 */
	public void requireWorthWaiting() {
		Failure verdict = this.frame.latch().failure();
		if (verdict != null) {
			throw io.tutti.engine.CollectiveException.of(this.frame.identity().worldRank(), verdict, null);
		}
		Call call = this.frame.call();
		if (call.deadline().expired()) {
			throw this.frame.failure(Failure.Kind.TIMEOUT, this.sleeper.awaited(), "no data came from them", null);
		}
		if (Thread.currentThread().isInterrupted()) {
			throw this.frame.failure(Failure.Kind.ABORTED, List.of(this.frame.identity().rank()),
					"the calling thread was interrupted", null);
		}
	}

}
