package io.tutti.engine.rendezvous.control;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.tutti.engine.CallPost;
import io.tutti.engine.CallSignature;
import io.tutti.engine.CollectiveException;
import io.tutti.engine.Deadline;
import io.tutti.engine.Failure;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.rendezvous.BarrierOutcome;
import io.tutti.engine.rendezvous.CallMatch;
import io.tutti.engine.rendezvous.ControlEvents;
import io.tutti.engine.rendezvous.ControlPlane;
import io.tutti.engine.rendezvous.Departure;
import io.tutti.engine.rendezvous.PeerStatus;
import io.tutti.engine.rendezvous.Progress;
import io.tutti.engine.rendezvous.RoundWait;
import io.tutti.engine.rendezvous.wire.ControlMessage.Account;
import io.tutti.engine.rendezvous.wire.ControlMessage.AccountOf;
import io.tutti.engine.rendezvous.wire.ControlMessage.Announce;
import io.tutti.engine.rendezvous.wire.ControlMessage.AskAccounts;
import io.tutti.engine.rendezvous.wire.ControlMessage.AskCall;
import io.tutti.engine.rendezvous.wire.ControlMessage.AskDrain;
import io.tutti.engine.rendezvous.wire.ControlMessage.BarrierEnded;
import io.tutti.engine.rendezvous.wire.ControlMessage.Departed;
import io.tutti.engine.rendezvous.wire.ControlMessage.Confirm;
import io.tutti.engine.rendezvous.wire.ControlMessage.Confirmed;
import io.tutti.engine.rendezvous.wire.ControlMessage.Drain;
import io.tutti.engine.rendezvous.wire.ControlMessage.EnterBarrier;
import io.tutti.engine.rendezvous.wire.ControlMessage.Farewell;
import io.tutti.engine.rendezvous.wire.ControlMessage.Goodbye;
import io.tutti.engine.rendezvous.wire.ControlMessage.LeftGroup;
import io.tutti.engine.rendezvous.wire.ControlMessage.Matched;
import io.tutti.engine.rendezvous.wire.ControlMessage.Notice;
import io.tutti.engine.rendezvous.wire.ControlMessage.Posted;
import io.tutti.engine.rendezvous.wire.ControlMessage.PostedBatch;
import io.tutti.engine.rendezvous.wire.ControlMessage.Report;
import io.tutti.engine.rendezvous.wire.ControlMessage.Request;
import io.tutti.engine.rendezvous.wire.ControlMessage.RollAnswer;
import io.tutti.engine.rendezvous.wire.ControlMessage.RollCall;
import io.tutti.engine.rendezvous.wire.ControlMessage.Sightings;
import io.tutti.engine.rendezvous.wire.ControlMessage.TellAccount;
import io.tutti.engine.rendezvous.wire.ControlMessage.Verdict;
import io.tutti.engine.rendezvous.wire.ControlMessage.Withdraw;
import io.tutti.engine.rendezvous.wire.RoundEntry;
import io.tutti.engine.rendezvous.wire.Sighting;
import org.jspecify.annotations.Nullable;

/**
 * One rank's end of the control plane, whatever its messages travel by: over TCP, within
 * rank 0, or between simulated ranks. The methods of {@link ControlPlane} may be called
 * by anybody, the others by the control thread alone.
 */
public final class RankControl implements ControlPlane {

	/** Takes this rank's word to rank 0. */
	public interface Uplink {

		/** Sends in order, from any thread, without waiting. */
		void send(Request request);

		/** Runs something on the control thread, in its turn. */
		void execute(Runnable task);

		/** Says goodbye and gives everything back. */
		void leave();

	}

	/**
	 * Calls that all accounts together may hold of one group: rank 0 passes them on, at
	 * some 70 bytes each.
	 */
	private static final int MAX_CALLS_IN_ALL = 50_000;

	/** How long rank 0 may take to answer a rank that wants to go. */
	private static final Duration WITHDRAWING = Duration.ofSeconds(1);

	/**
	 * The limit of an account that holds no calls: it only says that the rank is there.
	 */
	private static final int SIGN_OF_LIFE = 0;

	private final int rank;

	private final ControlEvents events;

	private final PeerBoard board;

	private final Uplink uplink;

	/** How much longer than its timeout a barrier's answer may take to arrive. */
	private final Duration answerLimit;

	/** Calls that this rank has announced and barriers that it waits at. */
	private final Map<Long, PendingRound> waits = new ConcurrentHashMap<>();

	private final Map<Long, Gathering> gatherings = new ConcurrentHashMap<>();

	/** By group, what this rank has reported and rank 0 has not judged. */
	private final Map<String, Failure> unjudged = new ConcurrentHashMap<>();

	private final AtomicLong tickets = new AtomicLong();

	private final AtomicBoolean draining = new AtomicBoolean();

	private final AtomicBoolean closed = new AtomicBoolean();

	private final LastSeen rankZero = new LastSeen();

	/** Why no barrier can be passed any more. */
	private volatile @Nullable Failure ended;

	public RankControl(int rank, ControlEvents events, PeerBoard board, Uplink uplink, Duration answerLimit) {
		this.rank = rank;
		this.events = new GuardedEvents(events);
		this.board = board;
		this.uplink = uplink;
		this.answerLimit = answerLimit;
	}

	public ControlEvents events() {
		return this.events;
	}

	@Override
	public void report(Failure failure) {
		this.unjudged.putIfAbsent(failure.group(), failure);
		send(new Report(failure));
	}

	@Override
	public Failure unjudged(Failure seen, Duration waited) {
		if (this.rank == 0) {
			return seen;
		}
		return seen.withDetail(seen.detail() + "; rank 0 has not answered for " + waited.toMillis()
				+ " ms since it was told; " + this.rankZero.in(seen.group(), System.nanoTime()));
	}

	@Override
	public void left(GroupIdentity group, long lastCompleted) {
		send(new LeftGroup(group.name(), group.name().equals(Failure.WORLD) ? List.of() : group.members(),
				lastCompleted));
	}

	@Override
	public void post(CallPost post) {
		send(new Posted(post));
	}

	@Override
	public void post(List<CallPost> posts) {
		send(new PostedBatch(posts));
	}

	@Override
	public void requestDrain(String reason) {
		send(new AskDrain(reason));
	}

	private void send(Request request) {
		if (!this.closed.get()) {
			this.uplink.send(request);
		}
	}

	@Override
	public List<PeerStatus> peers() {
		return this.board.others(this.rank);
	}

	@Override
	public @Nullable PeerStatus peer(int rank) {
		return this.board.known(rank);
	}

	@Override
	public Map<Integer, byte[]> askAccounts(int limit, Duration timeout) {
		List<Integer> others = present();
		int fair = Math.clamp(MAX_CALLS_IN_ALL / (others.size() + 1), 1, Math.max(1, limit));
		Map<Integer, byte[]> accounts = gather(others, fair, timeout).accounts();
		accounts.put(this.rank, this.events.account(fair));
		return accounts;
	}

	@Override
	public Map<Integer, Duration> rollCall(Duration timeout) {
		Map<Integer, Duration> answered = gather(present(), SIGN_OF_LIFE, timeout).waits();
		answered.put(this.rank, Duration.ZERO);
		return answered;
	}

	@Override
	public CompletableFuture<Void> echo() {
		if (this.closed.get()) {
			return CompletableFuture.completedFuture(null);
		}
		CompletableFuture<Void> echo = new CompletableFuture<>();
		this.uplink.execute(() -> echo.complete(null));
		return echo;
	}

	/** The other ranks that are there, as far as is known. */
	private List<Integer> present() {
		return peers().stream().filter((peer) -> peer.state() == PeerStatus.State.UP).map(PeerStatus::rank).toList();
	}

	private Gathering gather(List<Integer> others, int limit, Duration timeout) {
		long ticket = this.tickets.incrementAndGet();
		Gathering gathering = new Gathering(this.closed.get() ? List.of() : others);
		this.gatherings.put(ticket, gathering);
		try {
			send(new AskAccounts(ticket, limit));
			gathering.await(timeout);
			return gathering;
		}
		finally {
			this.gatherings.remove(ticket);
		}
	}

	@Override
	public BarrierOutcome barrier(RoundWait wait) {
		return meet(wait, EnterBarrier::new).meeting();
	}

	@Override
	public CallMatch match(RoundWait wait, CallSignature call) {
		return meet(wait, (entry) -> new Announce(entry, call));
	}

	private CallMatch meet(RoundWait wait, Function<RoundEntry, Request> arrival) {
		long ticket = this.tickets.incrementAndGet();
		PendingRound pending = new PendingRound(wait.client());
		this.waits.put(ticket, pending);
		try {
			requireUsable(null);
			this.uplink.send(arrival.apply(new RoundEntry(ticket, wait.label(), wait.round(), wait.client() != null,
					longestNanos(wait.timeout()))));
			return await(pending, ticket, wait);
		}
		finally {
			this.waits.remove(ticket);
		}
	}

	private CallMatch await(PendingRound pending, long ticket, RoundWait wait) {
		Deadline deadline = Deadline.after(Duration.ofNanos(longestNanos(wait.timeout())).plus(this.answerLimit));
		try {
			return pending.await(deadline, (attempt) -> this.uplink.send(new Confirmed(ticket, attempt)),
					() -> this.uplink.send(new Withdraw(ticket)));
		}
		catch (CancellationException ex) {
			requireUsable(ex);
			throw ex;
		}
		catch (TimeoutException ex) {
			throw CollectiveException.of(this.rank, lostRankZero("it did not answer at barrier " + wait.label()), ex);
		}
		catch (InterruptedException ex) {
			return withdraw(pending, ticket, wait.label());
		}
	}

	/**
	 * Whoever gives up may have been counted already, and then has to hear of it, as the
	 * others do: only rank 0 knows.
	 */
	private CallMatch withdraw(PendingRound pending, long ticket, String label) {
		this.uplink.send(new Withdraw(ticket));
		try {
			CallMatch last = pending.awaitEnd(Deadline.after(WITHDRAWING));
			if (last.meeting().result() == BarrierOutcome.Result.PASSED) {
				return last;
			}
		}
		catch (InterruptedException | TimeoutException | CancellationException ex) {
			// Rank 0 is not there to say; the rank goes as it was told to.
		}
		Thread.currentThread().interrupt();
		throw new CancellationException("interrupted while waiting at barrier " + label);
	}

	private void requireUsable(@Nullable Throwable cause) {
		Failure failure = this.ended;
		if (failure != null) {
			throw CollectiveException.of(this.rank, failure, cause);
		}
		if (this.closed.get()) {
			throw new IllegalStateException("rank " + this.rank + " has closed its control plane");
		}
	}

	/** Takes rank 0's word. */
	public void receive(Notice notice) {
		switch (notice) {
			case Verdict(Failure failure) -> failed(failure);
			case RollCall(long id, String group) ->
				send(new RollAnswer(id, this.events.lastEntered(group), this.events.members(group)));
			case AskCall(String group, long sequence) -> answer(this.events.called(group, sequence));
			case TellAccount(int asker, long ticket, int limit) -> send(new Account(asker, ticket, account(limit)));
			case AccountOf(long ticket, int from, byte[] account) -> told(ticket, from, account);
			case Confirm(long ticket, int attempt) -> confirm(ticket, attempt);
			case BarrierEnded(long ticket, BarrierOutcome outcome) ->
				ended(ticket, new CallMatch(outcome, CallMatch.NOT_MATCHED, Map.of()));
			case Matched(long ticket, CallMatch match) -> ended(ticket, match);
			case Departed(List<Departure> departures) -> departures.forEach(this.events::departed);
			case Drain(String reason) -> drain(reason);
			case Sightings(List<Sighting> byRank) -> this.board.take(byRank, this.rank);
			case Farewell() -> rankZeroLeft();
		}
	}

	private void answer(@Nullable CallPost called) {
		if (called != null) {
			post(called);
		}
	}

	private byte[] account(int limit) {
		return (limit == SIGN_OF_LIFE) ? new byte[0] : this.events.account(Math.clamp(limit, 1, MAX_CALLS_IN_ALL));
	}

	private void told(long ticket, int from, byte[] account) {
		Gathering gathering = this.gatherings.get(ticket);
		if (gathering != null) {
			gathering.add(from, account);
		}
	}

	/** Without rank 0 nobody else can be asked. */
	private void endGatherings() {
		this.gatherings.values().forEach(Gathering::end);
	}

	/**
	 * Without rank 0 a rank answers itself; what it asks concerns nobody else any more.
	 */
	public void decideAlone(Request request) {
		switch (request) {
			case Report(Failure failure) -> failed(failure);
			case AskDrain(String reason) -> drain(reason);
			case EnterBarrier _, Announce _, Withdraw _ -> endWaits();
			case Confirmed confirmed -> {
			}
			case AskAccounts(long ticket, int limit) -> endGatherings();
			case RollAnswer answer -> {
			}
			case LeftGroup left -> {
			}
			case Account(int asker, long ticket, byte[] account) -> {
			}
			case Posted(CallPost post) -> {
			}
			case PostedBatch(List<CallPost> posts) -> {
			}
			case Goodbye(var cutOff) -> {
			}
		}
	}

	/** Rank 0 gives a sign of life. */
	public void rankZeroSeen(List<Progress> progress) {
		this.rankZero.take(progress, System.nanoTime());
	}

	/** Rank 0 ended or fell silent. */
	public void rankZeroLost(String detail) {
		this.board.state(0, PeerStatus.State.LOST);
		endGatherings();
		failed(lostRankZero(detail));
		judgeAlone();
	}

	/** Nobody else judges any more what was reported before. */
	private void judgeAlone() {
		this.unjudged.values().forEach(this::failed);
	}

	private void rankZeroLeft() {
		this.board.state(0, PeerStatus.State.LEFT);
		this.events.departed(Departure.fromEveryGroup(0));
		endGatherings();
		if (this.ended == null) {
			this.ended = lostRankZero("it has left the group");
		}
		judgeAlone();
		endWaits();
	}

	private void failed(Failure verdict) {
		boolean concernsAll = verdict.kind() == Failure.Kind.PEER_LOST || verdict.group().equals(Failure.WORLD);
		if (concernsAll && this.ended == null) {
			this.ended = verdict;
		}
		this.unjudged.remove(verdict.group());
		this.events.failed(verdict);
		if (concernsAll) {
			endWaits();
		}
	}

	private void drain(String reason) {
		if (this.draining.compareAndSet(false, true)) {
			this.events.drainRequested(reason);
		}
	}

	private void ended(long ticket, CallMatch outcome) {
		PendingRound wait = this.waits.get(ticket);
		if (wait != null) {
			wait.end(outcome);
		}
	}

	private void confirm(long ticket, int attempt) {
		PendingRound wait = this.waits.get(ticket);
		if (wait != null) {
			wait.ask(attempt);
		}
	}

	private void endWaits() {
		this.waits.values().forEach(PendingRound::cancel);
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.uplink.leave();
			endWaits();
			endGatherings();
		}
	}

	private static Failure lostRankZero(String detail) {
		return Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), detail);
	}

	private static long longestNanos(Duration timeout) {
		long longest = TimeUnit.DAYS.toNanos(365);
		return (timeout.toSeconds() > TimeUnit.NANOSECONDS.toSeconds(longest)) ? longest : timeout.toNanos();
	}

}
