package io.tutti.engine.control;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.RollCallReply;

/**
 * Decides at rank 0 which failure broke a group. The first failure to arrive is the
 * cause; later reports for the same group change nothing. Never blocks: the owner must
 * call {@link #tick()}. Not thread safe.
 * <p>
 * Two kinds of report start an inquiry before they become a verdict. For a timeout, rank
 * 0 asks every rank for the last call it entered. For a lost peer, rank 0 waits briefly
 * for that peer's control connection to close as well or for the root cause to arrive,
 * since one failed rank makes others fail. A rank that has left in order causes no
 * inquiry.
 */
final class FailureResolver {

	/** Receives roll calls and verdicts to send. */
	interface Listener {

		/** Ask every rank that is up for the last call it entered. */
		void rollCall(long id, String group);

		/** Send the verdict to every rank. */
		void verdict(Failure verdict);

		/** Send the verdict of an earlier failure to a rank that reports late. */
		void verdict(int rank, Failure verdict);

	}

	/** How long the root cause may take to arrive after a data connection closed. */
	private static final Duration SECOND_LOOK = Duration.ofMillis(500);

	private final RankLiveness liveness;

	private final DepartureTracker departures;

	private final long limitNanos;

	private final LongSupplier nanoClock;

	private final Listener listener;

	/** Verdicts kept for ranks that report late. */
	static final int KEPT = 1024;

	/** The verdicts by group, the oldest first. */
	private final Map<String, Failure> decided = new LinkedHashMap<>() {

		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Failure> eldest) {
			return size() > KEPT;
		}

	};

	/** Ranks whose loss was a verdict. */
	private final Set<Integer> blamed = new HashSet<>();

	/** The open inquiries, by group. */
	private final Map<String, Inquiry> inquiries = new HashMap<>();

	private long rollCalls;

	FailureResolver(RankLiveness liveness, DepartureTracker departures, Duration limit, LongSupplier nanoClock,
			Listener listener) {
		this.liveness = liveness;
		this.departures = departures;
		this.limitNanos = limit.toNanos();
		this.nanoClock = nanoClock;
		this.listener = listener;
	}

	/** Whether the group has its verdict. */
	boolean decided(String group) {
		return this.decided.containsKey(group);
	}

	/** A rank reports a failure. */
	void report(int reporter, Failure failure) {
		Failure decision = this.decided.get(failure.group());
		if (decision != null) {
			this.listener.verdict(reporter, decision);
			return;
		}
		Inquiry inquiry = this.inquiries.get(failure.group());
		boolean rootCause = switch (failure.kind()) {
			case ABORTED, MISMATCH -> true;
			case TIMEOUT -> isOutsideOfOrder(failure);
			case PEER_LOST -> false;
		};
		if (inquiry == null) {
			lookInto(reporter, failure, rootCause);
		}
		else if (rootCause && inquiry instanceof Suspicion) {
			decide(failure);
		}
	}

	private void lookInto(int reporter, Failure failure, boolean rootCause) {
		long now = this.nanoClock.getAsLong();
		if (failure.kind() == Failure.Kind.TIMEOUT && !rootCause) {
			RollCallState record = new RollCallState(this.rollCalls++, reporter, failure, this.liveness.worldSize(),
					now);
			this.inquiries.put(failure.group(), new RollCall(record, now + this.limitNanos));
			this.listener.rollCall(record.id(), failure.group());
		}
		else if (rootCause) {
			decide(failure);
		}
		else if (isCertain(failure)) {
			decide(conclusion(failure));
		}
		else {
			long look = Math.min(this.limitNanos, SECOND_LOOK.toNanos());
			this.inquiries.put(failure.group(), new Suspicion(failure, now + look));
		}
	}

	/**
	 * Whether the failed call is a send or receive. It has no sequence number, so the
	 * progress of other ranks does not explain the timeout.
	 */
	private static boolean isOutsideOfOrder(Failure failure) {
		return failure.sequence() < 0;
	}

	/** Whether waiting gives no more information about the ranks reported lost. */
	private boolean isCertain(Failure failure) {
		return failure.ranks()
			.stream()
			.anyMatch((rank) -> !mayYetBeSeenToGo(rank) || this.departures.hasLeft(rank, failure.group()));
	}

	private boolean mayYetBeSeenToGo(int rank) {
		return this.liveness.holds(rank) && this.liveness.isUp(rank);
	}

	/** A rank answers a roll call. */
	void answer(int rank, RollCallReply answer) {
		for (Inquiry inquiry : this.inquiries.values()) {
			if (inquiry instanceof RollCall(RollCallState record, long due) && record.id() == answer.id()) {
				record.answer(rank, answer.lastEntered(), answer.members());
				if (isComplete(record)) {
					decide(verdict(record));
				}
				return;
			}
		}
	}

	/** Rank 0 has determined that a rank is lost. */
	void lost(int rank, String detail) {
		if (this.blamed.add(rank)) {
			Failure verdict = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(rank), detail);
			close(Failure.WORLD, verdict);
			suspectedOnly(this.blamed).forEach((group) -> close(group, verdict));
			this.listener.verdict(verdict);
			settleCompleteRollCalls();
		}
	}

	/**
	 * A rank has left a group or the job in order. This is no failure, but inquiries no
	 * longer wait for its answer or for its connection to close.
	 */
	void left() {
		settleCompleteRollCalls();
		for (Inquiry inquiry : List.copyOf(this.inquiries.values())) {
			if (inquiry instanceof Suspicion(Failure failure, long due) && isCertain(failure)) {
				decide(conclusion(failure));
			}
		}
	}

	/** Ends the inquiries whose deadline has passed. */
	void tick() {
		if (this.inquiries.isEmpty()) {
			return;
		}
		long now = this.nanoClock.getAsLong();
		for (Map.Entry<String, Inquiry> entry : List.copyOf(this.inquiries.entrySet())) {
			if (entry.getValue().dueNanos() - now <= 0 && !decided(entry.getKey())) {
				decide(conclusion(entry.getValue()));
			}
		}
	}

	private Failure conclusion(Inquiry inquiry) {
		return switch (inquiry) {
			case RollCall(RollCallState record, long due) -> verdict(record);
			case Suspicion(Failure failure, long due) -> conclusion(failure);
		};
	}

	private Failure conclusion(Failure suspected) {
		return stillHere(suspected) ? hasLeftGroup(suspected) : suspected;
	}

	/** Whether every rank of the failure is still up and has left only a subgroup. */
	private boolean stillHere(Failure failure) {
		return !failure.group().equals(Failure.WORLD) && !failure.ranks().isEmpty()
				&& failure.ranks().stream().allMatch(this::mayYetBeSeenToGo);
	}

	private static Failure hasLeftGroup(Failure failure) {
		return new Failure(Failure.Kind.ABORTED, failure.group(), failure.sequence(), failure.collective(),
				failure.ranks(), "it has left the group: " + failure.detail(), failure.elapsed(), failure.timeout());
	}

	/**
	 * Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} without an open
	 * inquiry.
	 */
	long nanosUntilDue() {
		long now = this.nanoClock.getAsLong();
		long soonest = Long.MAX_VALUE;
		for (Inquiry inquiry : this.inquiries.values()) {
			soonest = Math.min(soonest, inquiry.dueNanos() - now);
		}
		return Math.max(0, soonest);
	}

	private void settleCompleteRollCalls() {
		for (Inquiry inquiry : List.copyOf(this.inquiries.values())) {
			if (inquiry instanceof RollCall(RollCallState record, long due) && isComplete(record)) {
				decide(verdict(record));
			}
		}
	}

	private Failure verdict(RollCallState record) {
		return record.verdict(this.liveness, this.nanoClock.getAsLong());
	}

	private boolean isComplete(RollCallState record) {
		if (record.answers() < this.liveness.up()) {
			return false;
		}
		for (int rank = 0; rank < this.liveness.worldSize(); rank++) {
			if (this.liveness.isUp(rank) && !record.answered(rank)) {
				return false;
			}
		}
		return true;
	}

	private void decide(Failure verdict) {
		close(verdict.group(), verdict);
		if (verdict.kind() == Failure.Kind.PEER_LOST) {
			this.blamed.addAll(verdict.ranks());
			close(Failure.WORLD, verdict);
		}
		this.listener.verdict(verdict);
	}

	/** Ends the group's inquiry and keeps its first verdict. */
	private void close(String group, Failure verdict) {
		this.inquiries.remove(group);
		this.decided.putIfAbsent(group, verdict);
	}

	/** Groups under a suspicion that names only these ranks. */
	private List<String> suspectedOnly(Set<Integer> ranks) {
		return this.inquiries.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() instanceof Suspicion(Failure failure, long due)
					&& ranks.containsAll(failure.ranks()))
			.map(Map.Entry::getKey)
			.toList();
	}

	/** An inquiry into a report, with its deadline. */
	private sealed interface Inquiry {

		long dueNanos();

	}

	private record RollCall(RollCallState record, long dueNanos) implements Inquiry {
	}

	private record Suspicion(Failure failure, long dueNanos) implements Inquiry {
	}

}
