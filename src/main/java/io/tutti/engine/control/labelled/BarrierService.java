package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.Confirmed;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.LabelledRequest;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.control.Coordinator;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * Tracks labelled barriers and announced calls at rank 0. A rank's k-th call with a label
 * joins the k-th round of that label; barriers and announced calls are counted
 * separately. The first deadline to pass breaks the round for every rank that has entered
 * it, and a rank that enters later gets {@code LATE}. If all ranks of a round announced
 * the same call, it gets the next number in an order that holds for every rank. Never
 * blocks: the owner must call {@link #tick()}. Not thread safe.
 */
public final class BarrierService implements Coordinator.LabelledHandler {

	/** A label unused for this long starts again from its first round. */
	static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);

	/** Beyond this number the label that is idle for longest is dropped early. */
	static final int MAX_LABELS = 10_000;

	/** Half the range of the clock's differences, so that deadlines stay comparable. */
	private static final long MAX_TIMEOUT_NANOS = Long.MAX_VALUE / 4;

	private final int worldSize;

	private final LongSupplier nanoClock;

	private final Coordinator.Downlink downlink;

	/** In access order: the label used last comes last. */
	private final Map<BarrierLabel.Key, BarrierLabel> labels = new LinkedHashMap<>(16, 0.75f, true);

	private final TreeSet<BarrierRound> open = new TreeSet<>();

	private long opened;

	private long matches;

	public BarrierService(int worldSize, LongSupplier nanoClock, Coordinator.Downlink downlink) {
		this.worldSize = worldSize;
		this.nanoClock = nanoClock;
		this.downlink = downlink;
	}

	@Override
	public void receive(int rank, LabelledRequest request) {
		switch (request) {
			case EnterRound entry -> enter(rank, entry);
			case Confirmed(long ticket, int attempt) -> confirmed(rank, ticket, attempt);
			case Withdraw(long ticket) -> withdraw(rank, ticket);
		}
	}

	/** A rank enters its next round of a label, or the round that it names. */
	private void enter(int rank, EnterRound entry) {
		long now = this.nanoClock.getAsLong();
		forgetIdle(now);
		BarrierLabel state = this.labels.computeIfAbsent(
				new BarrierLabel.Key(entry.label(), entry.round(), entry.call() != null),
				(key) -> new BarrierLabel(key, this.worldSize));
		state.used(now);
		long round = state.nextRoundOf(rank);
		BarrierOutcome missed = state.missedOutcome(rank, round);
		if (missed != null) {
			end(rank, entry.ticket(), CallMatch.none(missed));
			return;
		}
		BarrierRound barrier = state.open(round);
		if (barrier == null) {
			barrier = state.start(round, this.opened++);
		}
		long deadlineNanos = now + Math.min(entry.timeoutNanos(), MAX_TIMEOUT_NANOS);
		arrive(barrier, new BarrierRound.Arrival(rank, entry, now, deadlineNanos));
		forgetBeyondTheLimit();
	}

	private void arrive(BarrierRound barrier, BarrierRound.Arrival arrival) {
		change(barrier, () -> barrier.arrive(arrival));
		if (barrier.complete()) {
			for (BarrierRound.Arrival asked : barrier.unconfirmed()) {
				this.downlink.send(asked.rank(), new Confirm(asked.ticket(), barrier.attempt()));
			}
			passIfConfirmed(barrier);
		}
	}

	/** Applies a change that may move the round within the deadline order. */
	private void change(BarrierRound barrier, Runnable change) {
		if (!barrier.isEmpty()) {
			this.open.remove(barrier);
		}
		change.run();
		if (!barrier.isEmpty()) {
			this.open.add(barrier);
		}
	}

	private void passIfConfirmed(BarrierRound barrier) {
		if (barrier.complete() && barrier.unconfirmed().isEmpty()) {
			this.open.remove(barrier);
			barrier.label().passed(barrier);
			forgetNamed(barrier.label());
			endAll(barrier, BarrierOutcome.Result.PASSED);
		}
	}

	/**
	 * Drops a named round that has ended, so that all ranks, or those that missed it, may
	 * repeat it.
	 */
	private void forgetNamed(BarrierLabel label) {
		if (label.isNamedRound() && label.isIdle()) {
			this.labels.remove(label.key());
		}
	}

	/** The client of a tentative arrival is still connected. */
	private void confirmed(int rank, long ticket, int attempt) {
		BarrierRound barrier = find(rank, ticket);
		if (barrier != null && barrier.complete() && barrier.attempt() == attempt) {
			barrier.confirm(Objects.requireNonNull(barrier.arrivalOf(rank)));
			passIfConfirmed(barrier);
		}
	}

	/**
	 * Withdraws a rank's wait, unless the round has already ended for the rank. The
	 * rank's later calls with the label move up by one round.
	 */
	private void withdraw(int rank, long ticket) {
		BarrierRound barrier = find(rank, ticket);
		if (barrier != null) {
			BarrierOutcome outcome = barrier.outcome(BarrierOutcome.Result.WITHDRAWN);
			take(barrier, rank);
			end(rank, ticket, CallMatch.none(outcome));
			shiftLaterArrivals(barrier, rank);
		}
	}

	private @Nullable BarrierRound find(int rank, long ticket) {
		for (BarrierRound barrier : this.open) {
			BarrierRound.Arrival arrival = barrier.arrivalOf(rank);
			if (arrival != null && arrival.ticket() == ticket) {
				return barrier;
			}
		}
		return null;
	}

	private BarrierRound.Arrival take(BarrierRound barrier, int rank) {
		BarrierRound.Arrival arrival = Objects.requireNonNull(barrier.arrivalOf(rank));
		change(barrier, () -> barrier.remove(arrival));
		return arrival;
	}

	private void shiftLaterArrivals(BarrierRound freed, int rank) {
		BarrierLabel label = freed.label();
		BarrierRound later = label.nextWith(rank, freed.round());
		if (later == null) {
			label.freeRound(rank, freed.round());
			return;
		}
		arrive(freed, take(later, rank));
		shiftLaterArrivals(later, rank);
	}

	/** Removes a rank that has left or is lost from all rounds, which cannot pass now. */
	@Override
	public void forget(int rank) {
		for (BarrierRound barrier : List.copyOf(this.open)) {
			if (barrier.arrivalOf(rank) != null) {
				take(barrier, rank);
			}
		}
	}

	/** Breaks the rounds whose deadline has passed and drops idle labels. */
	@Override
	public void tick() {
		long now = this.nanoClock.getAsLong();
		while (!this.open.isEmpty() && this.open.first().deadlineNanos() - now <= 0) {
			BarrierRound late = this.open.removeFirst();
			touch(late.label(), now);
			late.label().broken(late);
			forgetNamed(late.label());
			endAll(late, BarrierOutcome.Result.BROKEN);
		}
		forgetIdle(now);
	}

	/**
	 * Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} if no rank waits.
	 */
	@Override
	public long nanosUntilDue() {
		if (this.open.isEmpty()) {
			return Long.MAX_VALUE;
		}
		return Math.max(0, this.open.first().deadlineNanos() - this.nanoClock.getAsLong());
	}

	/** The number of labels kept. */
	int labels() {
		return this.labels.size();
	}

	private void touch(BarrierLabel label, long now) {
		this.labels.get(label.key());
		label.used(now);
	}

	private void endAll(BarrierRound barrier, BarrierOutcome.Result result) {
		long now = this.nanoClock.getAsLong();
		BarrierOutcome outcome = barrier.outcome(result);
		Map<Integer, CallSignature> calls = barrier.calls();
		boolean matched = result == BarrierOutcome.Result.PASSED && alike(calls.values());
		long order = matched ? this.matches++ : CallMatch.NOT_MATCHED;
		for (BarrierRound.Arrival arrival : barrier.arrivals()) {
			long waitedMillis = TimeUnit.NANOSECONDS.toMillis(now - arrival.atNanos());
			end(arrival.rank(), arrival.ticket(), new CallMatch(outcome.afterWaiting(waitedMillis), order, calls));
		}
	}

	/** Whether all ranks announced the same call. A negative count equals any count. */
	private static boolean alike(Collection<CallSignature> calls) {
		long count = calls.stream().mapToLong(CallSignature::count).max().orElse(0);
		return calls.stream().map((call) -> (call.count() < 0) ? call.withCount(count) : call).distinct().count() == 1;
	}

	private void end(int rank, long ticket, CallMatch match) {
		this.downlink.send(rank, new RoundEnded(ticket, match));
	}

	/** Drops idle labels, oldest first. A label with a waiting rank is not idle. */
	private void forgetIdle(long now) {
		Iterator<BarrierLabel> oldestFirst = this.labels.values().iterator();
		while (oldestFirst.hasNext()) {
			BarrierLabel label = oldestFirst.next();
			if (now - label.usedNanos() < FORGOTTEN_AFTER.toNanos()) {
				return;
			}
			if (label.isIdle()) {
				oldestFirst.remove();
			}
		}
	}

	private void forgetBeyondTheLimit() {
		if (this.labels.size() > MAX_LABELS) {
			Iterator<BarrierLabel> oldestFirst = this.labels.values().iterator();
			while (oldestFirst.hasNext()) {
				if (oldestFirst.next().isIdle()) {
					oldestFirst.remove();
					return;
				}
			}
		}
	}

}
