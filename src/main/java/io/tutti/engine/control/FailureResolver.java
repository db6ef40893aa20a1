package io.tutti.engine.control;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.QueryProgress;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.failure.DepartedRanks;
import org.jspecify.annotations.Nullable;

/**
 * Decides at rank 0 which failure broke a group. The first failure to arrive is the
 * cause; later reports for the same group change nothing. Never blocks: the owner must
 * call {@link #tick()}. Not thread safe.
 * <p>
 * Two kinds of report start an inquiry before they become a verdict. For a timeout, rank
 * 0 asks every rank for the last call it entered; the failure of an earlier call, in
 * which a rank still waits, explains that of a later one. For a lost peer, rank 0 waits
 * briefly for that peer's control connection to close as well or for the root cause to
 * arrive, since one failed rank makes others fail. A rank that has left in order causes
 * no inquiry, and a rank that left without the failed call is the cause in place of a
 * suspect that is still up.
 */
final class FailureResolver {

	/** How long the root cause may take to arrive after a data connection closed. */
	private static final Duration SUSPICION_LIMIT = Duration.ofMillis(500);

	/** Maximum number of verdicts kept for ranks that report late. */
	static final int KEPT = 1024;

	private final PeerTable peers;

	private final DepartureTracker departures;

	private final long limitNanos;

	private final LongSupplier nanoClock;

	private final Coordinator.Downlink downlink;

	/** The verdicts by group, the oldest first. */
	private final Map<String, Failure> decided = new LinkedHashMap<>();

	/** The verdict on each rank that a verdict declared lost. */
	private final Map<Integer, Failure> blamed = new HashMap<>();

	/** The open inquiries, by group. */
	private final Map<String, Inquiry> inquiries = new HashMap<>();

	private long timeoutInquiries;

	FailureResolver(PeerTable peers, DepartureTracker departures, Duration limit, LongSupplier nanoClock,
			Coordinator.Downlink downlink) {
		this.peers = peers;
		this.departures = departures;
		this.limitNanos = limit.toNanos();
		this.nanoClock = nanoClock;
		this.downlink = downlink;
	}

	/** Whether the group has its verdict. */
	boolean decided(String group) {
		return this.decided.containsKey(group);
	}

	/** A rank reports a failure. */
	void report(int reporter, Failure failure) {
		Failure decision = decisionOn(failure);
		if (decision != null) {
			this.downlink.send(reporter, new Verdict(decision));
			return;
		}
		Inquiry inquiry = this.inquiries.get(failure.group());
		boolean explains = inquiry instanceof TimeoutInquiry timeout && timeout.isExplainedBy(failure);
		boolean rootCause = switch (failure.kind()) {
			case ABORTED, MISMATCH -> true;
			case TIMEOUT -> isOutsideOfOrder(failure);
			case PEER_LOST -> false;
		};
		if (rootCause && (explains || !(inquiry instanceof TimeoutInquiry))) {
			decide(failure);
		}
		else if (inquiry == null || explains
				|| inquiry instanceof Suspicion suspicion && refutes(reporter, failure, suspicion)) {
			inquire(reporter, failure);
		}
	}

	/** The verdict that already covers a report, {@code null} for none. */
	private @Nullable Failure decisionOn(Failure failure) {
		Failure decision = this.decided.get(failure.group());
		if (decision != null || failure.kind() != Failure.Kind.PEER_LOST) {
			return decision;
		}
		return failure.ranks().stream().map(this.blamed::get).filter(Objects::nonNull).findFirst().orElse(null);
	}

	/**
	 * Whether the failed call is a send or receive. It has no sequence number, so the
	 * progress of other ranks does not explain the timeout.
	 */
	private static boolean isOutsideOfOrder(Failure failure) {
		return failure.sequence() < 0;
	}

	private void inquire(int reporter, Failure failure) {
		long now = this.nanoClock.getAsLong();
		if (failure.kind() == Failure.Kind.TIMEOUT) {
			TimeoutInquiry timeout = new TimeoutInquiry(this.timeoutInquiries++, reporter, failure, this.peers, now,
					now + this.limitNanos);
			this.inquiries.put(failure.group(), timeout);
			this.downlink.broadcast(new QueryProgress(timeout.id(), failure.group()));
		}
		else if (isCertain(failure)) {
			decide(conclusion(failure));
		}
		else {
			long waitNanos = Math.min(this.limitNanos, SUSPICION_LIMIT.toNanos());
			this.inquiries.put(failure.group(), new Suspicion(failure, now + waitNanos));
		}
	}

	/**
	 * Whether a later report shows that the suspect is not the cause. A rank that gives
	 * up while it connects closes a connection that its peer may have accepted already.
	 */
	private boolean refutes(int reporter, Failure failure, Suspicion suspicion) {
		return switch (failure.kind()) {
			case PEER_LOST -> isCertain(failure);
			case TIMEOUT -> suspicion.failure().ranks().contains(reporter);
			case ABORTED, MISMATCH -> false;
		};
	}

	/** Whether waiting gives no more information about the cause. */
	private boolean isCertain(Failure failure) {
		return areGone(failure) || missing(failure) >= 0;
	}

	/** Whether one of the ranks reported lost has left or is lost. */
	private boolean areGone(Failure failure) {
		DepartedRanks left = this.departures.from(failure.group());
		return failure.ranks().stream().anyMatch((rank) -> !this.peers.isUp(rank) || left.contains(rank));
	}

	/** A rank that left the group without the failed call, -1 for none. */
	private int missing(Failure failure) {
		return isOutsideOfOrder(failure) ? -1 : this.departures.from(failure.group()).missingFrom(failure.sequence());
	}

	/** A rank reports its progress. */
	void answer(int rank, ProgressReply answer) {
		for (Inquiry inquiry : this.inquiries.values()) {
			if (inquiry instanceof TimeoutInquiry timeout && timeout.id() == answer.id()) {
				timeout.answer(rank, answer);
			}
		}
		concludeTimeouts();
	}

	/**
	 * Rank 0 has determined that a rank is lost. If a verdict has blamed the rank before,
	 * no second one follows, but inquiries no longer wait for its answer.
	 */
	void lost(int rank, String detail) {
		if (!this.blamed.containsKey(rank)) {
			decide(Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(rank), detail));
		}
		concludeTimeouts();
	}

	private void concludeTimeouts() {
		conclude((inquiry) -> inquiry instanceof TimeoutInquiry timeout && timeout.isComplete(this.departures));
	}

	/**
	 * A rank has left a group or the job in order. This is no failure, but inquiries no
	 * longer wait for its answer or for its connection to close.
	 */
	void left() {
		conclude((inquiry) -> switch (inquiry) {
			case TimeoutInquiry timeout -> timeout.isComplete(this.departures);
			case Suspicion(Failure failure, long due) -> isCertain(failure);
		});
	}

	/** Ends the inquiries whose deadline has passed. */
	void tick() {
		if (!this.inquiries.isEmpty()) {
			long now = this.nanoClock.getAsLong();
			conclude((inquiry) -> inquiry.dueNanos() - now <= 0);
		}
	}

	/** Decides the inquiries that match. One verdict may end several of them. */
	private void conclude(Predicate<Inquiry> ended) {
		for (Inquiry inquiry : List.copyOf(this.inquiries.values())) {
			if (ended.test(inquiry) && this.inquiries.containsValue(inquiry)) {
				decide(switch (inquiry) {
					case TimeoutInquiry timeout -> timeout.verdict(this.departures, this.nanoClock.getAsLong());
					case Suspicion(Failure failure, long due) -> conclusion(failure);
				});
			}
		}
	}

	/**
	 * A rank that has left without the call is the cause, not a rank that disconnected
	 * because of that.
	 */
	private Failure conclusion(Failure suspected) {
		int missing = missing(suspected);
		if (missing >= 0 && !areGone(suspected)) {
			return new Failure(DepartedRanks.failureOf(suspected.group()), suspected.group(), suspected.sequence(),
					suspected.collective(), List.of(missing), this.departures.from(suspected.group()).describe(missing),
					suspected.elapsed(), suspected.timeout());
		}
		return stillHere(suspected) ? unreachableInGroup(suspected) : suspected;
	}

	/** Whether the failure is one of a subgroup, and all its ranks are up. */
	private boolean stillHere(Failure failure) {
		return !failure.group().equals(Failure.WORLD) && !failure.ranks().isEmpty()
				&& failure.ranks().stream().allMatch(this.peers::isUp);
	}

	private static Failure unreachableInGroup(Failure failure) {
		return new Failure(Failure.Kind.ABORTED, failure.group(), failure.sequence(), failure.collective(),
				failure.ranks(), "it is up, but has left this group or cannot be reached in it: " + failure.detail(),
				failure.elapsed(), failure.timeout());
	}

	/**
	 * Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} without an open
	 * inquiry.
	 */
	long nanosUntilDue() {
		long now = this.nanoClock.getAsLong();
		long soonest = this.inquiries.values()
			.stream()
			.mapToLong((inquiry) -> inquiry.dueNanos() - now)
			.min()
			.orElse(Long.MAX_VALUE);
		return Math.max(0, soonest);
	}

	private void decide(Failure verdict) {
		keep(verdict.group(), verdict);
		if (verdict.kind() == Failure.Kind.PEER_LOST) {
			keep(Failure.WORLD, verdict);
			verdict.ranks().forEach((rank) -> this.blamed.putIfAbsent(rank, verdict));
			suspectedOnly(this.blamed.keySet()).forEach((group) -> keep(group, verdict));
		}
		// A verdict that names rank 0 means its loss unless its departure is known.
		this.departures.flush();
		this.downlink.broadcast(new Verdict(verdict));
	}

	/**
	 * Ends the group's inquiry and keeps its first verdict, for the world group for good.
	 */
	private void keep(String group, Failure verdict) {
		this.inquiries.remove(group);
		this.decided.putIfAbsent(group, verdict);
		if (this.decided.size() > KEPT) {
			this.decided.keySet()
				.stream()
				.filter((each) -> !each.equals(Failure.WORLD))
				.findFirst()
				.ifPresent(this.decided::remove);
		}
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
	sealed interface Inquiry permits TimeoutInquiry, Suspicion {

		long dueNanos();

	}

	/** A data connection to these ranks closed; the root cause may still arrive. */
	record Suspicion(Failure failure, long dueNanos) implements Inquiry {
	}

}
