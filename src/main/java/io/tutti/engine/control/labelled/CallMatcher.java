package io.tutti.engine.control.labelled;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.RoundEntry;
import io.tutti.engine.spi.CallSignature;

/**
 * Matches at rank 0 the calls that ranks announce before they make them. Ranks enter a
 * label as at a barrier. If all ranks announce the same call, it gets the next number in
 * an order that holds for every rank. Not thread safe.
 */
final class CallMatcher implements BarrierService.Listener {

	/** Receives the match result of an announced call for each rank. */
	interface Listener {

		void matched(int rank, long ticket, CallMatch match);

		/** A rank must confirm that its client is still connected, or withdraw. */
		default void confirm(int rank, long ticket, int attempt) {
		}

	}

	/** A rank's announcement. */
	private record Announcement(int rank, long ticket) {
	}

	private final BarrierService meetings;

	private final Listener listener;

	private final Map<Announcement, CallSignature> announced = new HashMap<>();

	private Map<Integer, CallSignature> settled = Map.of();

	private long settledOrder = CallMatch.NOT_MATCHED;

	private long matches;

	CallMatcher(int worldSize, LongSupplier nanoClock, Listener listener) {
		this.meetings = new BarrierService(worldSize, nanoClock, this);
		this.listener = listener;
	}

	/**
	 * A rank announces its next call at a label.
	 * @param call the call; a negative count matches the count of the other ranks
	 */
	void announce(int rank, RoundEntry entry, CallSignature call) {
		this.announced.put(new Announcement(rank, entry.ticket()), call);
		this.meetings.enter(rank, entry);
	}

	/** The client of a tentative announcement is still connected. */
	void confirmed(int rank, long ticket, int attempt) {
		this.meetings.confirmed(rank, ticket, attempt);
	}

	/** Withdraws a rank's announcement, unless its round has already ended. */
	void withdraw(int rank, long ticket) {
		this.meetings.withdraw(rank, ticket);
	}

	/** Drops the announcements of a rank that has left or is lost. */
	void forget(int rank) {
		this.meetings.forget(rank);
		this.announced.keySet().removeIf((announcement) -> announcement.rank() == rank);
	}

	/** Breaks the rounds whose deadline has passed. */
	void tick() {
		this.meetings.tick();
	}

	long nanosUntilDue() {
		return this.meetings.nanosUntilDue();
	}

	@Override
	public void confirm(int rank, long ticket, int attempt) {
		this.listener.confirm(rank, ticket, attempt);
	}

	@Override
	public void settling(List<BarrierRound.Arrival> arrivals, BarrierOutcome.Result result) {
		this.settled = new TreeMap<>();
		for (BarrierRound.Arrival arrival : arrivals) {
			this.settled.put(arrival.rank(), this.announced.get(new Announcement(arrival.rank(), arrival.ticket())));
		}
		boolean matched = result == BarrierOutcome.Result.PASSED && alike(this.settled.values());
		this.settledOrder = matched ? this.matches++ : CallMatch.NOT_MATCHED;
	}

	@Override
	public void ended(int rank, long ticket, BarrierOutcome outcome) {
		this.announced.remove(new Announcement(rank, ticket));
		this.listener.matched(rank, ticket, switch (outcome.result()) {
			case PASSED, BROKEN -> new CallMatch(outcome, this.settledOrder, this.settled);
			case LATE, WITHDRAWN -> new CallMatch(outcome, CallMatch.NOT_MATCHED, Map.of());
		});
	}

	private static boolean alike(Collection<CallSignature> calls) {
		long count = calls.stream().mapToLong(CallSignature::count).max().orElse(0);
		return calls.stream().map((call) -> (call.count() < 0) ? call.withCount(count) : call).distinct().count() == 1;
	}

}
