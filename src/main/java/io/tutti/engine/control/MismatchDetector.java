package io.tutti.engine.control;

import java.time.Duration;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.QueryCall;
import io.tutti.engine.spi.CallReport;

/**
 * Compares at rank 0 the calls that ranks made at the same sequence number of a group. A
 * rank reports a call in which it waits. After {@link #ASK_AFTER} rank 0 asks every rank
 * that has not reported it, since a rank whose call has returned never reports it
 * unasked. A rank is asked once: if it has not reached the call yet, it reports it when
 * it does. Where nothing else compares calls, as on device memory, ranks report all
 * calls. Never blocks: the owner must call {@link #tick()}. Not thread safe.
 * <p>
 * Keeps a limited number of places and groups. Evicting one too early loses only reports
 * that waiting ranks do not repeat; ranks that arrive later report the call again.
 */
final class MismatchDetector {

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

	private final PeerTable peers;

	private final LongSupplier nanoClock;

	private final Coordinator.Downlink downlink;

	private final Predicate<String> decided;

	private final BiConsumer<Integer, Failure> mismatched;

	/** In access order: the group reported last comes last. */
	private final Map<String, Places> groups = new LinkedHashMap<>(16, 0.75f, true);

	/** Places for which no rank has been asked yet, the oldest first. */
	private final Set<Place> unasked = new LinkedHashSet<>();

	/**
	 * @param decided whether a group has its verdict, so that its calls need no
	 * comparison
	 * @param mismatched receives each rank whose call differs from that of another one
	 */
	MismatchDetector(PeerTable peers, LongSupplier nanoClock, Coordinator.Downlink downlink, Predicate<String> decided,
			BiConsumer<Integer, Failure> mismatched) {
		this.peers = peers;
		this.nanoClock = nanoClock;
		this.downlink = downlink;
		this.decided = decided;
		this.mismatched = mismatched;
	}

	/**
	 * A rank reports calls.
	 * @param waits whether the rank waits in them. Otherwise these are all calls since
	 * its last report, and ranks that have not reported such a call are asked only if no
	 * rank has reported a later call by then: ranks that report all calls need no query.
	 */
	void report(int rank, List<CallReport> calls, boolean waits) {
		for (CallReport report : calls) {
			if (isCompared(report.group())) {
				Places places = placesOf(report.group());
				places.limit = waits ? places.limit : MAX_PLACES_OF_BATCHES;
				Place place = place(rank, report, places);
				place.waitedIn |= waits;
				compare(rank, report, place);
			}
		}
	}

	/**
	 * A rank leaves a group and reports its last call there. No rank is asked because of
	 * that: one that waits in another call reports it.
	 */
	void left(int rank, CallReport last) {
		if (isCompared(last.group())) {
			Place place = place(rank, last, placesOf(last.group()));
			if (!place.waitedIn && place.rank == rank) {
				this.unasked.remove(place);
			}
			compare(rank, last, place);
		}
	}

	/** A group with a verdict needs no more comparison. */
	private boolean isCompared(String group) {
		if (this.decided.test(group)) {
			forget(group);
			return false;
		}
		return true;
	}

	private Places placesOf(String group) {
		return this.groups.computeIfAbsent(group, (name) -> new Places());
	}

	private void compare(int rank, CallReport report, Place place) {
		place.reporters.set(rank);
		if (rank != place.rank && report.differsFrom(place.report)) {
			this.mismatched.accept(rank, mismatch(place.rank, place.report, rank, report));
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
			if (isCompared(place.report.group()) && place.isToBeAsked()) {
				ask(place);
			}
		}
	}

	private void ask(Place place) {
		QueryCall query = new QueryCall(place.report.group(), place.report.call().sequence());
		for (int rank = 0; rank < this.peers.worldSize(); rank++) {
			if (!place.reporters.get(rank) && this.peers.isUp(rank)) {
				this.downlink.send(rank, query);
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
