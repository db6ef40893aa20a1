package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.CallMatch.Announced;
import io.tutti.engine.control.ControlMessage.Confirm;
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

	/** The rounds in which ranks wait. */
	private final Set<BarrierRound> open = new LinkedHashSet<>();

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
			case Confirm(long ticket, int attempt) -> confirmed(rank, ticket, attempt);
			case Withdraw(long ticket) -> withdraw(rank, ticket);
		}
	}

	/** A rank enters its next round of a label, or the round that it names. */
	private void enter(int rank, EnterRound entry) {
		long now = this.nanoClock.getAsLong();
		forgetIdle(now);
		BarrierLabel label = this.labels.computeIfAbsent(
				new BarrierLabel.Key(entry.label(), entry.round(), entry.call() != null),
				(key) -> new BarrierLabel(key, this.worldSize));
		label.used(now);
		long number = label.nextRoundOf(rank);
		BarrierOutcome missed = label.missedOutcome(rank, number);
		if (missed != null) {
			end(rank, entry, CallMatch.none(missed));
			return;
		}
		arrive(label.round(number), rank,
				new BarrierRound.Arrival(entry, now, now + Math.min(entry.timeoutNanos(), MAX_TIMEOUT_NANOS)));
		forgetIdle(now);
	}

	private void arrive(BarrierRound round, int rank, BarrierRound.Arrival arrival) {
		this.open.add(round);
		round.arrive(rank, arrival);
		for (int asked : round.unconfirmed()) {
			this.downlink.send(asked, new Confirm(round.arrivals().get(asked).entry().ticket(), round.attempt()));
		}
		endIfPassed(round);
	}

	private void endIfPassed(BarrierRound round) {
		if (round.passes()) {
			this.open.remove(round);
			round.label().passed(round);
			end(round, BarrierOutcome.Result.PASSED);
		}
	}

	/** The client of a tentative arrival is still connected. */
	private void confirmed(int rank, long ticket, int attempt) {
		BarrierRound round = find(rank, ticket);
		if (round != null) {
			round.confirm(rank, attempt);
			endIfPassed(round);
		}
	}

	/**
	 * Withdraws a rank's wait, unless the round has already ended for the rank. The
	 * rank's later calls with the label move up by one round.
	 */
	private void withdraw(int rank, long ticket) {
		BarrierRound freed = find(rank, ticket);
		if (freed == null) {
			return;
		}
		BarrierOutcome outcome = freed.outcome(BarrierOutcome.Result.WITHDRAWN);
		BarrierRound.Arrival withdrawn = take(freed, rank);
		end(rank, withdrawn.entry(), CallMatch.none(outcome));
		for (BarrierRound later : freed.label().laterWith(rank, freed)) {
			arrive(freed, rank, take(later, rank));
			freed = later;
		}
		freed.label().freeRound(rank, freed.number());
	}

	private @Nullable BarrierRound find(int rank, long ticket) {
		for (BarrierRound round : this.open) {
			BarrierRound.Arrival arrival = round.arrivalOf(rank);
			if (arrival != null && arrival.entry().ticket() == ticket) {
				return round;
			}
		}
		return null;
	}

	/** Removes a rank from a round in which it waits. */
	private BarrierRound.Arrival take(BarrierRound round, int rank) {
		BarrierRound.Arrival arrival = Objects.requireNonNull(round.remove(rank));
		if (round.isEmpty()) {
			this.open.remove(round);
		}
		return arrival;
	}

	/** Removes a rank that has left or is lost from all rounds, which cannot pass now. */
	@Override
	public void forget(int rank) {
		for (BarrierRound round : List.copyOf(this.open)) {
			if (round.arrivalOf(rank) != null) {
				take(round, rank);
			}
		}
	}

	/** Breaks the rounds whose deadline has passed and drops idle labels. */
	@Override
	public void tick() {
		long now = this.nanoClock.getAsLong();
		for (BarrierRound late : this.open.stream().filter((round) -> round.deadlineNanos() - now <= 0).toList()) {
			this.open.remove(late);
			touch(late.label(), now);
			late.label().broken(late);
			end(late, BarrierOutcome.Result.BROKEN);
		}
		forgetIdle(now);
	}

	/**
	 * Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} if no rank waits.
	 */
	@Override
	public long nanosUntilDue() {
		long now = this.nanoClock.getAsLong();
		return this.open.stream()
			.mapToLong((round) -> Math.max(0, round.deadlineNanos() - now))
			.min()
			.orElse(Long.MAX_VALUE);
	}

	/** The number of labels kept. */
	int labels() {
		return this.labels.size();
	}

	private void touch(BarrierLabel label, long now) {
		this.labels.get(label.key());
		label.used(now);
	}

	/** Ends a round for the ranks that wait in it. */
	private void end(BarrierRound round, BarrierOutcome.Result result) {
		BarrierLabel label = round.label();
		if (label.isNamedRound() && label.isIdle()) {
			// All ranks, or those that missed it, may repeat the round.
			this.labels.remove(label.key());
		}
		long now = this.nanoClock.getAsLong();
		BarrierOutcome outcome = round.outcome(result);
		List<Announced> calls = round.calls();
		boolean matched = result == BarrierOutcome.Result.PASSED && alike(calls);
		long order = matched ? this.matches++ : CallMatch.NOT_MATCHED;
		round.arrivals().forEach((rank, arrival) -> {
			long waitedMillis = TimeUnit.NANOSECONDS.toMillis(now - arrival.atNanos());
			end(rank, arrival.entry(), new CallMatch(outcome.afterWaiting(waitedMillis), order, calls));
		});
	}

	/** Whether all ranks announced the same call. A negative count equals any count. */
	private static boolean alike(List<Announced> announced) {
		List<CallSignature> calls = announced.stream().map(Announced::call).toList();
		long count = calls.stream().mapToLong(CallSignature::count).max().orElse(0);
		return calls.stream().map((call) -> (call.count() < 0) ? call.withCount(count) : call).distinct().count() == 1;
	}

	private void end(int rank, EnterRound entry, CallMatch match) {
		this.downlink.send(rank, new RoundEnded(entry.ticket(), match));
	}

	/**
	 * Drops idle labels, oldest first: those unused for long, and those beyond the limit.
	 * A label with a waiting rank is not idle.
	 */
	private void forgetIdle(long now) {
		Iterator<BarrierLabel> oldestFirst = this.labels.values().iterator();
		while (oldestFirst.hasNext()) {
			BarrierLabel label = oldestFirst.next();
			if (this.labels.size() <= MAX_LABELS && now - label.usedNanos() < FORGOTTEN_AFTER.toNanos()) {
				return;
			}
			if (label.isIdle()) {
				oldestFirst.remove();
			}
		}
	}

}
