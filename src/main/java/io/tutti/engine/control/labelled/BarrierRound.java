package io.tutti.engine.control.labelled;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * One open round of a label. Ordered by deadline.
 */
final class BarrierRound implements Comparable<BarrierRound> {

	/**
	 * A rank that waits.
	 *
	 * @param entry its request; a tentative one must be confirmed once all ranks have
	 * entered
	 */
	record Arrival(int rank, EnterRound entry, long atNanos, long deadlineNanos) {

		long ticket() {
			return this.entry.ticket();
		}

	}

	private static final long NOT_ENTERED = -1;

	private final BarrierLabel label;

	private final long round;

	private final long serial;

	private final List<Arrival> arrivals = new ArrayList<>();

	/** The tentative arrivals that have confirmed since the last rank entered. */
	private final Set<Arrival> confirmed = new HashSet<>();

	/** How often the round was complete. */
	private int attempt;

	private long deadlineNanos;

	BarrierRound(BarrierLabel label, long round, long serial) {
		this.label = label;
		this.round = round;
		this.serial = serial;
	}

	BarrierLabel label() {
		return this.label;
	}

	long round() {
		return this.round;
	}

	/** The earliest deadline of the waiting ranks; undefined while no rank waits. */
	long deadlineNanos() {
		return this.deadlineNanos;
	}

	List<Arrival> arrivals() {
		return this.arrivals;
	}

	boolean isEmpty() {
		return this.arrivals.isEmpty();
	}

	/** A rank's arrival, {@code null} if it does not wait in this round. */
	@Nullable Arrival arrivalOf(int rank) {
		return this.arrivals.stream().filter((arrival) -> arrival.rank() == rank).findFirst().orElse(null);
	}

	void arrive(Arrival arrival) {
		this.arrivals.add(arrival);
		this.deadlineNanos = earliest(Arrival::deadlineNanos);
		if (complete()) {
			this.confirmed.clear();
			this.attempt++;
		}
	}

	/** Removes a rank that no longer waits. */
	void remove(Arrival arrival) {
		this.arrivals.remove(arrival);
		if (!isEmpty()) {
			this.deadlineNanos = earliest(Arrival::deadlineNanos);
		}
	}

	/** Clock readings overflow, so only their differences are compared. */
	private long earliest(ToLongFunction<Arrival> time) {
		return this.arrivals.stream()
			.mapToLong(time)
			.reduce((one, other) -> (other - one < 0) ? other : one)
			.orElseThrow();
	}

	boolean complete() {
		return this.arrivals.size() == this.label.worldSize();
	}

	/** The attempt whose confirmations count. */
	int attempt() {
		return this.attempt;
	}

	void confirm(Arrival arrival) {
		this.confirmed.add(arrival);
	}

	/** The arrivals that must still confirm. */
	List<Arrival> unconfirmed() {
		return this.arrivals.stream()
			.filter((arrival) -> arrival.entry().tentative() && !this.confirmed.contains(arrival))
			.toList();
	}

	/** The announced calls by rank; empty at a barrier. */
	Map<Integer, CallSignature> calls() {
		Map<Integer, CallSignature> calls = new TreeMap<>();
		for (Arrival arrival : this.arrivals) {
			CallSignature call = arrival.entry().call();
			if (call != null) {
				calls.put(arrival.rank(), call);
			}
		}
		return calls;
	}

	/** The outcome of the round, with a waiting time of 0. */
	BarrierOutcome outcome(BarrierOutcome.Result result) {
		long[] skewMillis = new long[this.label.worldSize()];
		Arrays.fill(skewMillis, NOT_ENTERED);
		List<Arrival> counted = new ArrayList<>(this.arrivals);
		if (complete()) {
			counted.removeAll(unconfirmed());
		}
		long startNanos = earliest(Arrival::atNanos);
		for (Arrival arrival : counted) {
			skewMillis[arrival.rank()] = TimeUnit.NANOSECONDS.toMillis(arrival.atNanos() - startNanos);
		}
		List<Integer> missing = IntStream.range(0, skewMillis.length)
			.filter((rank) -> skewMillis[rank] == NOT_ENTERED)
			.boxed()
			.toList();
		return new BarrierOutcome(result, this.label.name(), this.label.numberOf(this.round), counted.size(), 0,
				Arrays.stream(skewMillis).boxed().toList(), missing);
	}

	@Override
	public int compareTo(BarrierRound other) {
		long difference = this.deadlineNanos - other.deadlineNanos;
		return (difference != 0) ? Long.signum(difference) : Long.compare(this.serial, other.serial);
	}

}
