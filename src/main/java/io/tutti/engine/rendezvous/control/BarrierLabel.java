package io.tutti.engine.rendezvous.control;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.tutti.engine.rendezvous.BarrierOutcome;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of one label: where each rank is in its barriers, which are open,
 * and which were broken before every rank had come.
 */
final class BarrierLabel {

	/** Older broken barriers are still known to be broken, but not for whom. */
	private static final int MAX_REMEMBERED = 64;

	private final String name;

	private final long[] nextRound;

	private final Map<Long, BarrierRound> open = new HashMap<>();

	private final Map<Long, BrokenRound> broken = new LinkedHashMap<>();

	private long started;

	private long usedNanos;

	BarrierLabel(String name, int worldSize) {
		this.name = name;
		this.nextRound = new long[worldSize];
	}

	String name() {
		return this.name;
	}

	int worldSize() {
		return this.nextRound.length;
	}

	void used(long nowNanos) {
		this.usedNanos = nowNanos;
	}

	long usedNanos() {
		return this.usedNanos;
	}

	/** Whether nobody waits. */
	boolean isIdle() {
		return this.open.isEmpty();
	}

	/** The barrier that the rank's call joins; its next call joins the next. */
	long nextRoundOf(int rank) {
		return this.nextRound[rank]++;
	}

	@Nullable BarrierRound open(long round) {
		return this.open.get(round);
	}

	BarrierRound start(long round, long serial, long nowNanos) {
		BarrierRound barrier = new BarrierRound(this, round, serial, nowNanos);
		this.open.put(round, barrier);
		this.started = Math.max(this.started, round + 1);
		return barrier;
	}

	void passed(BarrierRound barrier) {
		this.open.remove(barrier.round());
	}

	void broken(BarrierRound barrier) {
		this.open.remove(barrier.round());
		BarrierOutcome outcome = barrier.outcome(BarrierOutcome.Result.LATE);
		this.broken.put(barrier.round(), new BrokenRound(outcome));
		if (this.broken.size() > MAX_REMEMBERED) {
			this.broken.remove(this.broken.keySet().iterator().next());
		}
	}

	/**
	 * What a rank is told that comes to a barrier which was broken without it, or
	 * {@code null} if the barrier is open or yet to be started. A barrier that passed is
	 * past every rank's count.
	 */
	@Nullable BarrierOutcome missedBy(int rank, long round) {
		if (round >= this.started || this.open.containsKey(round)) {
			return null;
		}
		BrokenRound missed = this.broken.get(round);
		if (missed == null) {
			return new BarrierOutcome(BarrierOutcome.Result.LATE, this.name, round, 0, 0, List.of(), List.of(rank));
		}
		if (--missed.stillToCome == 0) {
			this.broken.remove(round);
		}
		return missed.outcome;
	}

	/** A broken barrier, until everybody who missed it has been told. */
	private static final class BrokenRound {

		private final BarrierOutcome outcome;

		private int stillToCome;

		BrokenRound(BarrierOutcome outcome) {
			this.outcome = outcome;
			this.stillToCome = outcome.missingRanks().size();
		}

	}

}
