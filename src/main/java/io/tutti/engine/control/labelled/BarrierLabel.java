package io.tutti.engine.control.labelled;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.RoundWait;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of one label: where each rank is in its barriers, which are open,
 * and which were broken before every rank had come.
 */
final class BarrierLabel {

	/**
	 * What tells labels apart.
	 *
	 * @param round the round that ranks named, or {@link RoundWait#NEXT}: each named
	 * round is a place of its own, so it cannot mix with any other
	 */
	record Key(String name, long round) {
	}

	/** Older broken barriers are still known to be broken, but not for whom. */
	private static final int MAX_REMEMBERED = 64;

	private final Key key;

	private final long[] nextRound;

	/** By rank, earlier rounds than its next that a withdrawn call has left open. */
	private final Map<Integer, TreeSet<Long>> freed = new HashMap<>();

	private final Map<Long, BarrierRound> open = new HashMap<>();

	private final Map<Long, BrokenRound> broken = new LinkedHashMap<>();

	private long started;

	private long usedNanos;

	BarrierLabel(Key key, int worldSize) {
		this.key = key;
		this.nextRound = new long[worldSize];
	}

	Key key() {
		return this.key;
	}

	String name() {
		return this.key.name();
	}

	/** What the ranks call one of its rounds. */
	long numberOf(long round) {
		return isNamedRound() ? this.key.round() : round;
	}

	boolean isNamedRound() {
		return this.key.round() != RoundWait.NEXT;
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
		return this.open.values().stream().allMatch(BarrierRound::isEmpty);
	}

	/** The barrier that the rank's call joins; its next call joins the next. */
	long nextRoundOf(int rank) {
		TreeSet<Long> left = this.freed.get(rank);
		return (left == null || left.isEmpty()) ? this.nextRound[rank]++ : left.removeFirst();
	}

	/** The rank's next call joins a barrier that it no longer waits at. */
	void freeRound(int rank, long round) {
		this.freed.computeIfAbsent(rank, (key) -> new TreeSet<>()).add(round);
	}

	/** The first barrier after another that the rank waits at, {@code null} if none. */
	@Nullable BarrierRound nextWith(int rank, long after) {
		return this.open.values()
			.stream()
			.filter((barrier) -> barrier.round() > after && barrier.arrivalOf(rank) != null)
			.min(Comparator.comparingLong(BarrierRound::round))
			.orElse(null);
	}

	@Nullable BarrierRound open(long round) {
		return this.open.get(round);
	}

	BarrierRound start(long round, long serial) {
		BarrierRound barrier = new BarrierRound(this, round, serial);
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
			return new BarrierOutcome(BarrierOutcome.Result.LATE, name(), numberOf(round), 0, 0, List.of(),
					List.of(rank));
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
