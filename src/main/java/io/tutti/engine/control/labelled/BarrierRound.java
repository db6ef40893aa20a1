package io.tutti.engine.control.labelled;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch.Announced;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * One open round of a label.
 */
final class BarrierRound {

	/**
	 * A rank that waits.
	 *
	 * @param entry its request; a tentative one must be confirmed once all ranks have
	 * entered
	 */
	record Arrival(EnterRound entry, long atNanos, long deadlineNanos) {
	}

	private static final long NOT_ENTERED = -1;

	private final BarrierLabel label;

	private final long number;

	/** By rank. */
	private final Map<Integer, Arrival> arrivals = new TreeMap<>();

	/** The ranks that must still confirm; empty while a rank is missing. */
	private final Set<Integer> unconfirmed = new TreeSet<>();

	/** How often the round was complete. */
	private int attempt;

	BarrierRound(BarrierLabel label, long number) {
		this.label = label;
		this.number = number;
	}

	BarrierLabel label() {
		return this.label;
	}

	long number() {
		return this.number;
	}

	/** The earliest deadline of the ranks that wait, of which there must be one. */
	long deadlineNanos() {
		return earliest(Arrival::deadlineNanos);
	}

	Map<Integer, Arrival> arrivals() {
		return this.arrivals;
	}

	boolean isEmpty() {
		return this.arrivals.isEmpty();
	}

	/** A rank's arrival, {@code null} if it does not wait in this round. */
	@Nullable Arrival arrivalOf(int rank) {
		return this.arrivals.get(rank);
	}

	void arrive(int rank, Arrival arrival) {
		this.arrivals.put(rank, arrival);
		if (this.arrivals.size() == this.label.worldSize()) {
			this.attempt++;
			this.arrivals.forEach((each, one) -> {
				if (one.entry().tentative()) {
					this.unconfirmed.add(each);
				}
			});
		}
	}

	/** Removes a rank that no longer waits. */
	@Nullable Arrival remove(int rank) {
		this.unconfirmed.clear();
		return this.arrivals.remove(rank);
	}

	/** Clock readings overflow, so only their differences are compared. */
	private long earliest(ToLongFunction<Arrival> time) {
		return this.arrivals.values()
			.stream()
			.mapToLong(time)
			.reduce((one, other) -> (other - one < 0) ? other : one)
			.orElseThrow();
	}

	/** The attempt whose confirmations count. */
	int attempt() {
		return this.attempt;
	}

	/** A rank confirms an attempt. */
	void confirm(int rank, int confirmed) {
		if (confirmed == this.attempt) {
			this.unconfirmed.remove(rank);
		}
	}

	/** The ranks that must confirm before the round passes. */
	Set<Integer> unconfirmed() {
		return this.unconfirmed;
	}

	/** Whether all ranks have entered and none must confirm. */
	boolean passes() {
		return this.arrivals.size() == this.label.worldSize() && this.unconfirmed.isEmpty();
	}

	/** The announced calls in order of the ranks; empty at a barrier. */
	List<Announced> calls() {
		List<Announced> calls = new ArrayList<>();
		this.arrivals.forEach((rank, arrival) -> {
			CallSignature call = arrival.entry().call();
			if (call != null) {
				calls.add(new Announced(rank, call));
			}
		});
		return calls;
	}

	/** The outcome of the round, with a waiting time of 0. */
	BarrierOutcome outcome(BarrierOutcome.Result result) {
		long startNanos = earliest(Arrival::atNanos);
		List<Long> skewMillis = new ArrayList<>();
		List<Integer> missing = new ArrayList<>();
		for (int rank = 0; rank < this.label.worldSize(); rank++) {
			Arrival arrival = this.unconfirmed.contains(rank) ? null : arrivalOf(rank);
			if (arrival == null) {
				missing.add(rank);
			}
			skewMillis
				.add((arrival != null) ? TimeUnit.NANOSECONDS.toMillis(arrival.atNanos() - startNanos) : NOT_ENTERED);
		}
		return new BarrierOutcome(result, this.label.key().name(), this.label.numberOf(this.number),
				skewMillis.size() - missing.size(), 0, skewMillis, missing);
	}

}
