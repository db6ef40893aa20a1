package io.tutti.engine.transport;

import java.util.List;
import java.util.stream.Collectors;

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

		/** The data exchanged with a rank of the group in this call. */
		Moved moved(int peer);

	}

	/** Bytes that came from a rank and went to it. */
	public record Moved(long receivedBytes, long sentBytes) {

		/** No data at all. */
		public static final Moved NONE = new Moved(0, 0);

		@Override
		public String toString() {
			return this.receivedBytes + " bytes received, " + this.sentBytes + " bytes sent";
		}

	}

	/** Data that moved so short a time before the deadline were still moving. */
	private static final long STILL_MOVING_NANOS = 1_000_000_000;

	/** The amounts of more ranks than this help nobody. */
	private static final int DETAILED = 8;

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
	 * is broken, a rank has left it, or the thread was interrupted
	 */
	public void requireWorthWaiting() {
		Failure verdict = this.frame.latch().failure();
		if (verdict != null) {
			throw io.tutti.engine.CollectiveException.of(this.frame.identity().worldRank(), verdict, null);
		}
		Call call = this.frame.call();
		int left = this.frame.latch().departed().missingFrom(call.sequence());
		if (left >= 0) {
			throw this.frame.left(left);
		}
		if (call.deadline().expired()) {
			List<Integer> awaited = this.sleeper.awaited();
			throw this.frame.failure(Failure.Kind.TIMEOUT, awaited, seenUntilNow(awaited), null);
		}
		if (Thread.currentThread().isInterrupted()) {
			throw this.frame.failure(Failure.Kind.ABORTED, List.of(this.frame.identity().rank()),
					"the calling thread was interrupted", new InterruptedException());
		}
	}

	/**
	 * The data that moved before a deadline passed, in words.
	 * @param moved how much
	 * @param idleNanos the time since
	 */
	public static String describe(String moved, long idleNanos) {
		long idleMillis = idleNanos / 1_000_000;
		return (idleNanos < STILL_MOVING_NANOS)
				? "data moves too slowly: " + moved + ", the last " + idleMillis + " ms ago"
				: "no data has moved for " + idleMillis + " ms; before that " + moved;
	}

	private String seenUntilNow(List<Integer> awaited) {
		String moved = awaited.stream()
			.filter((peer) -> !this.sleeper.moved(peer).equals(Moved.NONE))
			.limit(DETAILED)
			.map((peer) -> "rank " + this.frame.identity().members().get(peer) + ": " + this.sleeper.moved(peer))
			.collect(Collectors.joining("; "));
		long idleNanos = (this.idleRounds > this.spins) ? System.nanoTime() - this.idleSince : 0;
		return moved.isEmpty() ? "no data came from them" : describe(moved, idleNanos);
	}

}
