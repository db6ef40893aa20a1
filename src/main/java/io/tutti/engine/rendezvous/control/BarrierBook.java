package io.tutti.engine.rendezvous.control;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.tutti.engine.rendezvous.BarrierOutcome;

/**
 * Rank 0's record of who came to which labelled barrier. A rank's k-th call of a label
 * joins its k-th barrier; the first deadline breaks a barrier for all who had come, and
 * whoever comes later is told so. Waits for nothing itself: somebody must call
 * {@link #tick()}. Not thread safe.
 */
final class BarrierBook {

	/** Hears how a barrier ended for a rank. */
	interface Listener {

		/** Some ranks are about to be told how their barrier ended. */
		default void settling(List<BarrierRound.Arrival> arrivals, BarrierOutcome.Result result) {
		}

		void ended(int rank, long ticket, BarrierOutcome outcome);

	}

	/** A label that nobody used for so long starts again from its first barrier. */
	static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);

	/** Beyond this many labels the one idle for longest is forgotten early. */
	static final int MAX_LABELS = 10_000;

	/** Half the range of the clock's differences, so that deadlines stay comparable. */
	private static final long MAX_TIMEOUT_NANOS = Long.MAX_VALUE / 4;

	private final int worldSize;

	private final LongSupplier nanoClock;

	private final Listener listener;

	/** The label used last comes last. */
	private final Map<String, BarrierLabel> labels = new LinkedHashMap<>(16, 0.75f, true);

	private final TreeSet<BarrierRound> open = new TreeSet<>();

	private long opened;

	BarrierBook(int worldSize, LongSupplier nanoClock, Listener listener) {
		this.worldSize = worldSize;
		this.nanoClock = nanoClock;
		this.listener = listener;
	}

	/**
	 * A rank comes to its next barrier of a label.
	 * @param ticket what the rank calls this wait
	 * @param timeoutNanos how long it waits, more than zero
	 */
	void enter(int rank, long ticket, String label, long timeoutNanos) {
		long now = this.nanoClock.getAsLong();
		forgetIdle(now);
		BarrierLabel state = this.labels.computeIfAbsent(label, (name) -> new BarrierLabel(name, this.worldSize));
		state.used(now);
		long round = state.nextRoundOf(rank);
		BarrierOutcome missed = state.missedBy(rank, round);
		if (missed != null) {
			this.listener.ended(rank, ticket, missed);
			return;
		}
		BarrierRound barrier = state.open(round);
		if (barrier == null) {
			barrier = state.start(round, this.opened++, now);
		}
		arrive(barrier, new BarrierRound.Arrival(rank, ticket, now), timeoutNanos);
		forgetBeyondTheLimit();
	}

	private void arrive(BarrierRound barrier, BarrierRound.Arrival arrival, long timeoutNanos) {
		// Its place in the order changes with an earlier deadline.
		this.open.remove(barrier);
		barrier.arrive(arrival, arrival.atNanos() + Math.min(timeoutNanos, MAX_TIMEOUT_NANOS));
		if (!barrier.complete()) {
			this.open.add(barrier);
			return;
		}
		barrier.label().passed(barrier);
		tellAll(barrier, BarrierOutcome.Result.PASSED);
	}

	/**
	 * A rank gives up a wait and is told that it has missed the barrier, unless it has
	 * been told before how that ended. The others then wait for it in vain.
	 */
	void withdraw(int rank, long ticket) {
		for (BarrierRound barrier : this.open) {
			if (barrier.withdraw(rank, ticket)) {
				this.listener.ended(rank, ticket, barrier.outcome(BarrierOutcome.Result.LATE));
				return;
			}
		}
	}

	/** A rank has gone, so no barrier passes that it had come to. */
	void forget(int rank) {
		this.open.forEach((barrier) -> barrier.forget(rank));
	}

	/** Breaks the barriers whose deadline has passed and forgets idle labels. */
	void tick() {
		long now = this.nanoClock.getAsLong();
		while (!this.open.isEmpty() && this.open.first().deadlineNanos() - now <= 0) {
			BarrierRound late = this.open.removeFirst();
			touch(late.label(), now);
			late.label().broken(late);
			tellAll(late, BarrierOutcome.Result.BROKEN);
		}
		forgetIdle(now);
	}

	/**
	 * Nanoseconds until {@link #tick()} has something to do, {@link Long#MAX_VALUE} if
	 * nobody waits.
	 */
	long nanosUntilDue() {
		if (this.open.isEmpty()) {
			return Long.MAX_VALUE;
		}
		return Math.max(0, this.open.first().deadlineNanos() - this.nanoClock.getAsLong());
	}

	/** How many labels are remembered. */
	int labels() {
		return this.labels.size();
	}

	private void touch(BarrierLabel label, long now) {
		this.labels.get(label.name());
		label.used(now);
	}

	private void tellAll(BarrierRound barrier, BarrierOutcome.Result result) {
		long now = this.nanoClock.getAsLong();
		BarrierOutcome outcome = barrier.outcome(result);
		this.listener.settling(barrier.arrivals(), result);
		for (BarrierRound.Arrival arrival : barrier.arrivals()) {
			long waitedMillis = TimeUnit.NANOSECONDS.toMillis(now - arrival.atNanos());
			this.listener.ended(arrival.rank(), arrival.ticket(), outcome.afterWaiting(waitedMillis));
		}
	}

	/** The idlest labels come first; one that somebody waits at is not idle. */
	private void forgetIdle(long now) {
		Iterator<BarrierLabel> oldestFirst = this.labels.values().iterator();
		while (oldestFirst.hasNext()) {
			BarrierLabel label = oldestFirst.next();
			if (now - label.usedNanos() < FORGOTTEN_AFTER.toNanos()) {
				return;
			}
			if (label.isIdle()) {
				oldestFirst.remove();
			}
		}
	}

	private void forgetBeyondTheLimit() {
		if (this.labels.size() > MAX_LABELS) {
			Iterator<BarrierLabel> oldestFirst = this.labels.values().iterator();
			while (oldestFirst.hasNext()) {
				if (oldestFirst.next().isIdle()) {
					oldestFirst.remove();
					return;
				}
			}
		}
	}

}
