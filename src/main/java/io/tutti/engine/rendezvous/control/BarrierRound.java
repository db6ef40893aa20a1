package io.tutti.engine.rendezvous.control;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.tutti.engine.rendezvous.BarrierOutcome;

/**
 * One barrier of a label that some ranks have come to. Ordered by deadline.
 */
final class BarrierRound implements Comparable<BarrierRound> {

	/** A rank that waits. */
	record Arrival(int rank, long ticket, long atNanos) {
	}

	private static final long NOT_COME = -1;

	private final BarrierLabel label;

	private final long round;

	private final long serial;

	private final long startNanos;

	private final List<Arrival> arrivals = new ArrayList<>();

	private long deadlineNanos;

	BarrierRound(BarrierLabel label, long round, long serial, long startNanos) {
		this.label = label;
		this.round = round;
		this.serial = serial;
		this.startNanos = startNanos;
	}

	BarrierLabel label() {
		return this.label;
	}

	long round() {
		return this.round;
	}

	/** The earliest deadline of those who have come. */
	long deadlineNanos() {
		return this.deadlineNanos;
	}

	List<Arrival> arrivals() {
		return this.arrivals;
	}

	void arrive(Arrival arrival, long deadline) {
		boolean earlier = this.arrivals.isEmpty() || deadline - this.deadlineNanos < 0;
		this.arrivals.add(arrival);
		if (earlier) {
			this.deadlineNanos = deadline;
		}
	}

	/** Nobody may count on a rank that waits no more; returns whether it did. */
	boolean withdraw(int rank, long ticket) {
		return this.arrivals.removeIf((arrival) -> arrival.rank() == rank && arrival.ticket() == ticket);
	}

	/** The rank has gone. */
	void forget(int rank) {
		this.arrivals.removeIf((arrival) -> arrival.rank() == rank);
	}

	boolean complete() {
		return this.arrivals.size() == this.label.worldSize();
	}

	/** How the barrier ends, for a rank that has not waited. */
	BarrierOutcome outcome(BarrierOutcome.Result result) {
		long[] skewMillis = new long[this.label.worldSize()];
		Arrays.fill(skewMillis, NOT_COME);
		for (Arrival arrival : this.arrivals) {
			skewMillis[arrival.rank()] = TimeUnit.NANOSECONDS.toMillis(arrival.atNanos() - this.startNanos);
		}
		List<Integer> missing = IntStream.range(0, skewMillis.length)
			.filter((rank) -> skewMillis[rank] == NOT_COME)
			.boxed()
			.toList();
		return new BarrierOutcome(result, this.label.name(), this.round, this.arrivals.size(), 0,
				Arrays.stream(skewMillis).boxed().toList(), missing);
	}

	@Override
	public int compareTo(BarrierRound other) {
		long difference = this.deadlineNanos - other.deadlineNanos;
		return (difference != 0) ? Long.signum(difference) : Long.compare(this.serial, other.serial);
	}

	@Override
	public boolean equals(Object other) {
		return this == other;
	}

	@Override
	public int hashCode() {
		return Long.hashCode(this.serial);
	}

}
