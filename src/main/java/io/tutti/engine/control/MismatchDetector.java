package io.tutti.engine.control;

import java.time.Duration;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;

/**
 * Compares at rank 0 the calls that ranks made at the same sequence number of a group. A
 * rank reports a call in which it waits. After {@link #ASK_AFTER} rank 0 asks every rank
 * that has not reported it, since a rank whose call has returned never reports it
 * unasked. A rank is asked once: if it has not reached the call yet, it reports it on
 * entry. Where nothing else compares calls, as on device memory, ranks report all calls.
 * Never blocks: the owner must call {@link #tick()}. Not thread safe.
 * <p>
 * Keeps a limited number of places and groups. Evicting one too early loses only reports
 * that waiting ranks do not repeat; ranks that arrive later report the call again.
 */
final class MismatchDetector {

	/** Receives the queries and mismatches that result from reports. */
	interface Listener {

		/** Ask a rank which call it made. */
		void ask(int rank, String group, long sequence);

		/** The call of a rank differs from that of another rank. */
		void differ(int rank, Failure mismatch);

	}

	/**
	 * The delay from the first report until rank 0 asks the ranks that sent none. Ranks
	 * that wait in the call report it unasked within that time.
	 */
	static final Duration ASK_AFTER = Duration.ofMillis(100);

	/** Maximum number of places kept per group. */
	static final int MAX_PLACES = 8;

	/**
	 * The same limit where ranks report all calls: as many calls as one rank may be ahead
	 * of another within a few milliseconds.
	 */
	static final int MAX_PLACES_OF_BATCHES = 512;

	/** Maximum number of groups kept. */
	static final int MAX_GROUPS = 256;

	private final int worldSize;

	private final LongSupplier nanoClock;

	private final Listener listener;

	/** In access order: the group reported last comes last. */
	private final Map<String, Places> groups = new LinkedHashMap<>(16, 0.75f, true);

	/** Places for which no rank has been asked yet, the oldest first. */
	private final Set<Place> unasked = new LinkedHashSet<>();

	MismatchDetector(int worldSize, LongSupplier nanoClock, Listener listener) {
		this.worldSize = worldSize;
		this.nanoClock = nanoClock;
		this.listener = listener;
	}

	/** A rank reports a call in which it waits. */
	void report(int rank, CallReport report) {
		Place place = place(rank, report, placesOf(report.group()));
		place.waitedIn = true;
		compare(rank, report, place);
	}

	/**
	 * A rank reports all calls since its last report. Ranks that have not reported such a
	 * call are asked only if no rank has reported a later call by then: ranks that report
	 * all calls need no query.
	 */
	void report(int rank, List<CallReport> batch) {
		for (CallReport report : batch) {
			Places places = placesOf(report.group());
			places.limit = MAX_PLACES_OF_BATCHES;
			compare(rank, report, place(rank, report, places));
		}
	}

	/**
	 * A rank leaves a group and reports its last call there. No rank is asked because of
	 * that: one that waits in another call reports it.
	 */
	void left(int rank, CallReport last) {
		Place place = place(rank, last, placesOf(last.group()));
		if (!place.waitedIn && place.rank == rank) {
			this.unasked.remove(place);
		}
		compare(rank, last, place);
	}

	private Places placesOf(String group) {
		return this.groups.computeIfAbsent(group, (name) -> new Places());
	}

	private void compare(int rank, CallReport report, Place place) {
		place.reporters.set(rank);
		if (rank != place.rank && report.differsFrom(place.report)) {
			this.listener.differ(rank, mismatch(place.rank, place.report, rank, report));
		}
	}

	/** The mismatch of the calls of two ranks, the lower rank first. */
	static Failure mismatch(int rank, CallReport report, int otherRank, CallReport other) {
		if (otherRank < rank) {
			return mismatch(otherRank, other, rank, report);
		}
		CallReport longest = (report.elapsed().compareTo(other.elapsed()) >= 0) ? report : other;
		return new Failure(Failure.Kind.MISMATCH, report.group(), report.call().sequence(), report.call().collective(),
				List.of(rank, otherRank), "rank " + rank + " called " + report.against(other) + ", rank " + otherRank
						+ " called " + other.against(report),
				longest.elapsed(), longest.timeout());
	}

	private Place place(int rank, CallReport report, Places places) {
		long sequence = report.call().sequence();
		Place known = places.bySequence.get(sequence);
		if (known != null) {
			return known;
		}
		Place begun = new Place(places, rank, report, this.nanoClock.getAsLong() + ASK_AFTER.toNanos());
		places.bySequence.put(sequence, begun);
		places.newest = Math.max(places.newest, sequence);
		this.unasked.add(begun);
		forgetBeyondTheLimits(places);
		return begun;
	}

	private void forgetBeyondTheLimits(Places places) {
		if (places.bySequence.size() > places.limit) {
			Iterator<Place> oldestFirst = places.bySequence.values().iterator();
			this.unasked.remove(oldestFirst.next());
			oldestFirst.remove();
		}
		if (this.groups.size() > MAX_GROUPS) {
			forget(this.groups.keySet().iterator().next());
		}
	}

	/** Drops a group that needs no more comparison. */
	void forget(String group) {
		Places places = this.groups.remove(group);
		if (places != null) {
			places.bySequence.values().forEach(this.unasked::remove);
		}
	}

	/** Asks the ranks that have not reported a call in time. */
	void tick() {
		while (!this.unasked.isEmpty() && nanosUntilDue() == 0) {
			Place place = this.unasked.iterator().next();
			this.unasked.remove(place);
			if (!place.isToBeAsked()) {
				continue;
			}
			for (int rank = place.reporters.nextClearBit(0); rank < this.worldSize; rank = place.reporters
				.nextClearBit(rank + 1)) {
				this.listener.ask(rank, place.report.group(), place.report.call().sequence());
			}
		}
	}

	/**
	 * Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} if no rank is to
	 * be asked.
	 */
	long nanosUntilDue() {
		if (this.unasked.isEmpty()) {
			return Long.MAX_VALUE;
		}
		return Math.max(0, this.unasked.iterator().next().askNanos - this.nanoClock.getAsLong());
	}

	/** The number of places kept, over all groups. */
	int places() {
		return this.groups.values().stream().mapToInt((places) -> places.bySequence.size()).sum();
	}

	/** The places kept for a group. */
	private static final class Places {

		private final Map<Long, Place> bySequence = new LinkedHashMap<>();

		private long newest = -1;

		private int limit = MAX_PLACES;

	}

	/** A sequence number of a group and the first report for it. */
	private static final class Place {

		private final Places places;

		private final int rank;

		private final CallReport report;

		private final long askNanos;

		private final BitSet reporters = new BitSet();

		/** Whether a rank has reported that it waits in the call, not only made it. */
		private boolean waitedIn;

		Place(Places places, int rank, CallReport report, long askNanos) {
			this.places = places;
			this.rank = rank;
			this.report = report;
			this.askNanos = askNanos;
		}

		/** Whether a rank waits in the call, or no rank has reported a later one. */
		boolean isToBeAsked() {
			return this.waitedIn || this.places.newest == this.report.call().sequence();
		}

	}

}
