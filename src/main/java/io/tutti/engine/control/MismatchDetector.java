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
 * Rank 0's comparison of what ranks have called at the same place in a group's order. A
 * rank posts a call that it has waited in; a moment later every rank that has not posted
 * it is asked, since one whose call has returned waits for nothing and would never post.
 * A rank is asked once: if it has not come so far, it posts the call when it begins.
 * Where comparing is nobody else's, as on device memory, ranks post all they call. Waits
 * for nothing itself: somebody must call {@link #tick()}. Not thread safe.
 * <p>
 * Remembers few places of few groups: of one that is forgotten too early no more is lost
 * than posts that waiting ranks will not repeat, and who comes later posts it again.
 */
final class MismatchDetector {

	/** Hears what follows from the posts. */
	interface Listener {

		/** A rank is to be asked what it called. */
		void ask(int rank, String group, long sequence);

		/** A rank has called something else than another one. */
		void differ(int rank, Failure mismatch);

	}

	/**
	 * How long after the first post the ranks that are silent are asked: those who wait
	 * as well post by themselves in that time.
	 */
	static final Duration ASK_AFTER = Duration.ofMillis(100);

	/** Places in the order that are remembered of each group. */
	static final int MAX_PLACES = 8;

	/**
	 * The same where ranks post all that they call: as far as one may be ahead of another
	 * in a few milliseconds.
	 */
	static final int MAX_PLACES_OF_BATCHES = 512;

	/** Groups that are remembered. */
	static final int MAX_GROUPS = 256;

	private final int worldSize;

	private final LongSupplier nanoClock;

	private final Listener listener;

	/** The group that was posted last comes last. */
	private final Map<String, Places> groups = new LinkedHashMap<>(16, 0.75f, true);

	/** Places where nobody has been asked yet, the oldest first. */
	private final Set<Place> unasked = new LinkedHashSet<>();

	MismatchDetector(int worldSize, LongSupplier nanoClock, Listener listener) {
		this.worldSize = worldSize;
		this.nanoClock = nanoClock;
		this.listener = listener;
	}

	/** A rank says what it has called, and that it waits there. */
	void post(int rank, CallReport post) {
		Places places = placesOf(post.group());
		Place place = place(rank, post, places);
		place.waitedIn = true;
		compare(rank, post, place);
	}

	/**
	 * A rank says all that it has called since its last word. Whoever says nothing of
	 * such a call is asked only if nobody has gone on by then: ranks that post all they
	 * call need not be.
	 */
	void post(int rank, List<CallReport> batch) {
		for (CallReport post : batch) {
			Places places = placesOf(post.group());
			places.limit = MAX_PLACES_OF_BATCHES;
			compare(rank, post, place(rank, post, places));
		}
	}

	private Places placesOf(String group) {
		return this.groups.computeIfAbsent(group, (name) -> new Places());
	}

	private void compare(int rank, CallReport post, Place place) {
		place.heard.set(rank);
		if (rank != place.rank && post.differsFrom(place.post)) {
			this.listener.differ(rank, place.mismatch(rank, post));
		}
	}

	private Place place(int rank, CallReport post, Places places) {
		long sequence = post.call().sequence();
		Place known = places.bySequence.get(sequence);
		if (known != null) {
			return known;
		}
		Place begun = new Place(places, rank, post, this.nanoClock.getAsLong() + ASK_AFTER.toNanos());
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

	/** Nothing more is to be found out in this group. */
	void forget(String group) {
		Places places = this.groups.remove(group);
		if (places != null) {
			places.bySequence.values().forEach(this.unasked::remove);
		}
	}

	/** Asks the ranks that have been silent for long enough. */
	void tick() {
		while (!this.unasked.isEmpty() && nanosUntilDue() == 0) {
			Place place = this.unasked.iterator().next();
			this.unasked.remove(place);
			if (!place.isToBeAsked()) {
				continue;
			}
			for (int rank = place.heard.nextClearBit(0); rank < this.worldSize; rank = place.heard
				.nextClearBit(rank + 1)) {
				this.listener.ask(rank, place.post.group(), place.post.call().sequence());
			}
		}
	}

	/**
	 * Nanoseconds until {@link #tick()} has something to do, {@link Long#MAX_VALUE} if
	 * nobody is to be asked.
	 */
	long nanosUntilDue() {
		if (this.unasked.isEmpty()) {
			return Long.MAX_VALUE;
		}
		return Math.max(0, this.unasked.iterator().next().askNanos - this.nanoClock.getAsLong());
	}

	/** How many places in the order of all groups are remembered. */
	int places() {
		return this.groups.values().stream().mapToInt((places) -> places.bySequence.size()).sum();
	}

	/** What is remembered of a group. */
	private static final class Places {

		private final Map<Long, Place> bySequence = new LinkedHashMap<>();

		private long newest = -1;

		private int limit = MAX_PLACES;

	}

	/** A place in a group's order and the first post of it. */
	private static final class Place {

		private final Places places;

		private final int rank;

		private final CallReport post;

		private final long askNanos;

		private final BitSet heard = new BitSet();

		/** Whether a rank has said that it waits here, and not only that it was here. */
		private boolean waitedIn;

		Place(Places places, int rank, CallReport post, long askNanos) {
			this.places = places;
			this.rank = rank;
			this.post = post;
			this.askNanos = askNanos;
		}

		/** Where one waits, or where the last call of all has been for long. */
		boolean isToBeAsked() {
			return this.waitedIn || this.places.newest == this.post.call().sequence();
		}

		/** The first post and one that differs, the lower rank's first. */
		Failure mismatch(int otherRank, CallReport other) {
			if (otherRank < this.rank) {
				return mismatch(otherRank, other, this.rank, this.post);
			}
			return mismatch(this.rank, this.post, otherRank, other);
		}

		private static Failure mismatch(int rank, CallReport post, int otherRank, CallReport other) {
			CallReport longest = (post.elapsed().compareTo(other.elapsed()) >= 0) ? post : other;
			return new Failure(Failure.Kind.MISMATCH, post.group(), post.call().sequence(), post.call().collective(),
					List.of(rank, otherRank), "rank " + rank + " called " + post.against(other) + ", rank " + otherRank
							+ " called " + other.against(post),
					longest.elapsed(), longest.timeout());
		}

	}

}
