package io.tutti.engine.control.labelled;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.RoundWait;
import org.jspecify.annotations.Nullable;

/**
 * The state of one label: the next round of each rank, the open rounds, and the outcomes
 * of the rounds that broke before every rank had entered.
 */
final class BarrierLabel {

	/**
	 * Identifies a label.
	 *
	 * @param round the round that ranks named, or {@link RoundWait#NEXT}. Each named
	 * round has a state of its own, so it never mixes with another round.
	 * @param calls whether ranks announce calls; otherwise it is a barrier
	 */
	record Key(String name, long round, boolean calls) {
	}

	/** Older broken rounds still count as broken, but their outcome is dropped. */
	private static final int MAX_REMEMBERED = 64;

	private final Key key;

	private final long[] nextRound;

	/** By rank, rounds before its next one that a withdrawn call has left open. */
	private final Map<Integer, TreeSet<Long>> freed = new HashMap<>();

	private final TreeMap<Long, BarrierRound> open = new TreeMap<>();

	private final Map<Long, BarrierOutcome> broken = new LinkedHashMap<>();

	private long started;

	private long usedNanos;

	BarrierLabel(Key key, int worldSize) {
		this.key = key;
		this.nextRound = new long[worldSize];
	}

	Key key() {
		return this.key;
	}

	/** The number that ranks use for a round. */
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

	/** Whether no rank waits. */
	boolean isIdle() {
		return this.open.values().stream().allMatch(BarrierRound::isEmpty);
	}

	/** The round that the rank's call joins. Its next call joins the next round. */
	long nextRoundOf(int rank) {
		TreeSet<Long> left = this.freed.get(rank);
		return (left == null || left.isEmpty()) ? this.nextRound[rank]++ : left.removeFirst();
	}

	/** Makes the rank's next call join a round in which it no longer waits. */
	void freeRound(int rank, long round) {
		this.freed.computeIfAbsent(rank, (key) -> new TreeSet<>()).add(round);
	}

	/** The later rounds in which the rank waits, in order. */
	List<BarrierRound> laterWith(int rank, BarrierRound before) {
		return this.open.tailMap(before.number(), false)
			.values()
			.stream()
			.filter((round) -> round.arrivalOf(rank) != null)
			.toList();
	}

	/** An open round, or one that starts now. */
	BarrierRound round(long number) {
		this.started = Math.max(this.started, number + 1);
		return this.open.computeIfAbsent(number, (key) -> new BarrierRound(this, number));
	}

	void passed(BarrierRound round) {
		this.open.remove(round.number());
	}

	void broken(BarrierRound round) {
		this.open.remove(round.number());
		this.broken.put(round.number(), round.outcome(BarrierOutcome.Result.LATE));
		if (this.broken.size() > MAX_REMEMBERED) {
			this.broken.remove(this.broken.keySet().iterator().next());
		}
	}

	/**
	 * The outcome for a rank that enters a round which broke without it, {@code null} if
	 * the round is open or not started. No rank enters a round that has passed, since it
	 * counted for every rank.
	 */
	@Nullable BarrierOutcome missedOutcome(int rank, long round) {
		if (round >= this.started || this.open.containsKey(round)) {
			return null;
		}
		BarrierOutcome missed = this.broken.get(round);
		return (missed != null) ? missed : new BarrierOutcome(BarrierOutcome.Result.LATE, this.key.name(),
				numberOf(round), 0, 0, List.of(), List.of(rank));
	}

}
