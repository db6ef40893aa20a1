package io.tutti.engine.control;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.CallsReported;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.control.ControlMessage.LabelledRequest;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.LeftGroup;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.PeerUpdate;
import io.tutti.engine.control.ControlMessage.QueryCall;
import io.tutti.engine.control.ControlMessage.QueryTrace;
import io.tutti.engine.control.ControlMessage.QueryTraces;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.Report;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.QueryProgress;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.TraceReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * One rank's end of the control plane, independent of its transport: TCP, calls within
 * rank 0, or simulated ranks. The methods of {@link ControlPlane} may be called from any
 * thread, the others only from the control thread.
 */
public final class RankControl implements ControlPlane {

	/** Sends this rank's requests to rank 0. */
	public interface Uplink {

		/** Sends in order, from any thread, without blocking. */
		void send(Request request);

		/** Queues a task for the control thread. */
		void execute(Runnable task);

		/** Tells rank 0 that this rank leaves, and releases all resources. */
		void leave();

	}

	/** This rank's waits at labels. Thread safe. */
	public interface LabelledCalls {

		/**
		 * Waits for the other ranks in a round of a label.
		 * @param call the announced call, {@code null} at a barrier
		 * @see ControlPlane#barrier(RoundWait)
		 * @see ControlPlane#match(RoundWait, CallSignature)
		 */
		CallMatch enter(RoundWait wait, @Nullable CallSignature call);

		/** Rank 0 has sent a notice. */
		void receive(LabelledNotice notice);

		/**
		 * Ends all current and later waits with this failure. The first failure counts.
		 */
		void fail(Failure failure);

		/** This rank leaves: ends every wait. */
		void close();

	}

	/**
	 * Maximum number of calls of all groups in all traces together. Rank 0 forwards them
	 * at about 70 bytes each, more with call sites, and they must fit into the backlog of
	 * one connection.
	 */
	static final int MAX_CALLS_IN_ALL = 50_000;

	private static final List<Integer> RANK_ZERO = List.of(0);

	/** The limit of a query for a reply without a trace. */
	private static final int SIGN_OF_LIFE = 0;

	/** How soon the wait for a rank ends that has left or is lost. */
	private static final long CHECK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * A rank's answer to a query.
	 *
	 * @param after time from the query to the answer
	 */
	private record Answer(byte[] trace, Duration after) {
	}

	private final int rank;

	private final ControlListener events;

	private final PeerTable peers;

	private final Uplink uplink;

	private final LabelledCalls labelled;

	/** By ticket, the answers that a query has not taken yet. */
	private final Map<Long, BlockingQueue<ForwardedTrace>> queries = new ConcurrentHashMap<>();

	/** By group, the failures this rank reported that have no verdict yet. */
	private final Map<String, Failure> unanswered = new ConcurrentHashMap<>();

	/**
	 * The last verdict. Rank 0 sends it twice if a report crosses it; a report that
	 * follows it is answered again.
	 */
	private volatile @Nullable Failure last;

	/** The last call in the group of all ranks, once this rank has left it. */
	private volatile @Nullable CallReport lastCall;

	/** The last call of rank 0 there, once rank 0 has left. */
	private volatile @Nullable CallReport lastOfRankZero;

	private final AtomicLong tickets = new AtomicLong();

	private final AtomicBoolean draining = new AtomicBoolean();

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * @param events does not throw, see {@link ControlListener#guarded}
	 */
	public RankControl(int rank, ControlListener events, PeerTable peers, Uplink uplink, LabelledCalls labelled) {
		this.rank = rank;
		this.events = events;
		this.peers = peers;
		this.uplink = uplink;
		this.labelled = labelled;
	}

	public ControlListener events() {
		return this.events;
	}

	@Override
	public void report(Failure failure) {
		this.unanswered.putIfAbsent(failure.group(), failure);
		// A peer that has left after another call is no lost peer.
		reportCall(failure.group(), failure.sequence());
		send(new Report(failure));
	}

	@Override
	public Failure withoutVerdict(Failure seen, Duration waited) {
		if (this.rank == 0) {
			return seen;
		}
		String silence = "has not answered for " + waited.toMillis() + " ms since ";
		String progress = "; " + this.peers.lastProgress(0, seen.group());
		String consequence = seen.ranks().equals(RANK_ZERO) ? "" : consequenceOfSilence(seen);
		if (consequence.isEmpty()) {
			return seen.withDetail(seen.detail() + "; rank 0 " + silence + "the report" + progress);
		}
		return new Failure(seen.kind(), seen.group(), seen.sequence(), seen.collective(), RANK_ZERO,
				"it " + silence + consequence + progress, seen.elapsed(), seen.timeout());
	}

	/**
	 * Describes a failure that the silence of rank 0 may have caused, empty for one that
	 * is certain without rank 0. Every rank then names rank 0 instead of the rank that it
	 * waits for, which waits itself.
	 */
	private static String consequenceOfSilence(Failure seen) {
		String ranks = seen.ranks().isEmpty() ? "any rank" : "ranks " + seen.ranks();
		return switch (seen.kind()) {
			case TIMEOUT -> "this rank reported its wait for " + ranks + " (" + seen.detail()
					+ "), which may wait because of rank 0";
			case PEER_LOST ->
				"this rank reported " + ranks + " lost (" + seen.detail() + "), which may have ended because of rank 0";
			case MISMATCH, ABORTED -> "";
		};
	}

	@Override
	public void fail(int left, Failure failure) {
		if (!this.closed.get()) {
			this.uplink.execute(() -> {
				failed(failure);
				departed(List.of(Departure.fromEveryGroup(left)));
			});
		}
	}

	@Override
	public void left(GroupIdentity group, long lastCompleted) {
		CallReport last = this.events.called(group.name(), lastCompleted);
		boolean world = group.name().equals(Failure.WORLD);
		if (world) {
			this.lastCall = last;
		}
		send(new LeftGroup(group.name(), world ? List.of() : group.members(), lastCompleted, last));
	}

	/**
	 * The last call in the group of all ranks, {@code null} if this rank has not left it
	 * or has called nothing.
	 */
	public @Nullable CallReport lastCall() {
		return this.lastCall;
	}

	@Override
	public void reportCall(CallReport call) {
		send(new CallsReported(List.of(call), true));
	}

	@Override
	public void reportCalls(List<CallReport> calls) {
		send(new CallsReported(calls, false));
	}

	@Override
	public void requestDrain(String reason) {
		send(new Drain(reason));
	}

	private void send(Request request) {
		if (!this.closed.get()) {
			this.uplink.send(request);
		}
	}

	@Override
	public List<PeerStatus> peers() {
		return this.peers.others(this.rank);
	}

	@Override
	public @Nullable PeerStatus peer(int rank) {
		return this.peers.known(rank);
	}

	@Override
	public Map<Integer, byte[]> queryTraces(int limit, Duration timeout) {
		int wanted = Math.max(1, limit);
		Map<Integer, byte[]> traces = new TreeMap<>();
		gather(present(), wanted, timeout).forEach((from, answer) -> traces.put(from, answer.trace()));
		traces.put(this.rank, trace(wanted));
		return traces;
	}

	@Override
	public Map<Integer, Duration> rollCall(Duration timeout) {
		Map<Integer, Duration> answered = new TreeMap<>();
		gather(present(), SIGN_OF_LIFE, timeout).forEach((from, answer) -> answered.put(from, answer.after()));
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

	/** The other ranks that are up, as far as this rank knows. */
	private List<Integer> present() {
		return peers().stream().filter((peer) -> peer.state() == PeerStatus.State.UP).map(PeerStatus::rank).toList();
	}

	/**
	 * Asks through rank 0, until every rank that is up has answered. An interrupt ends
	 * the wait and stays set.
	 * @return the answers until then, by rank
	 */
	private Map<Integer, Answer> gather(List<Integer> others, int limit, Duration timeout) {
		long ticket = this.tickets.incrementAndGet();
		Deadline deadline = Deadline.after(timeout);
		Set<Integer> awaited = new HashSet<>(others);
		Map<Integer, Answer> answers = new TreeMap<>();
		BlockingQueue<ForwardedTrace> replies = new LinkedBlockingQueue<>();
		this.queries.put(ticket, replies);
		try {
			send(new QueryTraces(ticket, limit));
			while (!this.closed.get() && this.peers.isUp(0) && !deadline.expired()
					&& awaited.stream().anyMatch(this.peers::isUp)) {
				ForwardedTrace reply = replies.poll(Math.min(deadline.remainingNanos(), CHECK_INTERVAL_NANOS),
						TimeUnit.NANOSECONDS);
				take(reply, awaited, answers, deadline);
			}
			// Ranks may have answered before they left.
			replies.forEach((reply) -> take(reply, awaited, answers, deadline));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.queries.remove(ticket);
		}
		return answers;
	}

	private static void take(@Nullable ForwardedTrace reply, Set<Integer> awaited, Map<Integer, Answer> answers,
			Deadline deadline) {
		if (reply != null && awaited.remove(reply.rank())) {
			answers.put(reply.rank(), new Answer(reply.trace(), deadline.elapsed()));
		}
	}

	@Override
	public BarrierOutcome barrier(RoundWait wait) {
		return this.labelled.enter(wait, null).outcome();
	}

	@Override
	public CallMatch match(RoundWait wait, CallSignature call) {
		return this.labelled.enter(wait, call);
	}

	/** Rank 0 has sent a notice. */
	public void receive(Notice notice) {
		switch (notice) {
			case Verdict(Failure failure) -> failed(failure);
			case QueryProgress(long id, String group) -> answer(id, group);
			case QueryCall(String group, long sequence) -> reportCall(group, sequence);
			case QueryTrace(int requester, long ticket, int limit) ->
				send(new TraceReply(requester, ticket, trace(limit)));
			case ForwardedTrace trace -> traceArrived(trace);
			case LabelledNotice labelledNotice -> this.labelled.receive(labelledNotice);
			case Departed(List<Departure> departures) -> departed(departures);
			case Drain(String reason) -> drain(reason);
			case PeerUpdate(List<PeerLiveness> byRank) -> this.peers.take(byRank, this.rank);
			case RankZeroLeft(var last) -> rankZeroLeft(last);
		}
	}

	/** A rank that has left the job enters no label any more. */
	private void departed(List<Departure> departures) {
		departures.forEach(this.events::departed);
		List<Integer> ranks = departures.stream()
			.filter((departure) -> departure.group().equals(Departure.EVERY_GROUP))
			.map(Departure::rank)
			.toList();
		if (!ranks.isEmpty()) {
			this.labelled.fail(DepartedRanks.peerLost(ranks));
		}
	}

	private void answer(long inquiry, String group) {
		long entered = this.events.lastEntered(group);
		send(new ProgressReply(inquiry, entered, this.events.isInside(group, entered), this.events.members(group)));
	}

	/** Reports a call if the recorder still holds it. */
	private void reportCall(String group, long sequence) {
		CallReport called = this.events.called(group, sequence);
		if (called != null) {
			reportCall(called);
		}
	}

	/** This rank's trace, whose groups share its part of {@link #MAX_CALLS_IN_ALL}. */
	private byte[] trace(int limit) {
		if (limit == SIGN_OF_LIFE) {
			return new byte[0];
		}
		int groups = Math.max(1, this.events.progress().size());
		int fair = MAX_CALLS_IN_ALL / (present().size() + 1) / groups;
		return this.events.trace(Math.max(1, Math.min(limit, fair)));
	}

	private void traceArrived(ForwardedTrace trace) {
		BlockingQueue<ForwardedTrace> replies = this.queries.get(trace.ticket());
		if (replies != null) {
			replies.add(trace);
		}
	}

	/**
	 * Answers a request locally, after this rank has lost rank 0.
	 */
	public void resolveLocally(Request request) {
		switch (request) {
			case Report(Failure failure) -> failed(failure);
			case Drain(String reason) -> drain(reason);
			case LabelledRequest _ -> this.labelled.fail(DepartedRanks.peerLost(RANK_ZERO));
			case CallsReported(List<CallReport> calls, boolean _) -> calls.forEach(this::compareWithRankZero);
			case ProgressReply _, LeftGroup _, QueryTraces _, TraceReply _, Leave _ -> {
			}
		}
	}

	/** The connection to rank 0 has ended, or rank 0 has been silent too long. */
	public void rankZeroLost(String detail) {
		this.peers.gone(0, PeerStatus.State.LOST);
		failed(Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, RANK_ZERO, detail));
		resolvePendingLocally();
	}

	/** Fails the reported failures locally, since rank 0 will send no verdict. */
	private void resolvePendingLocally() {
		this.unanswered.values().forEach(this::failed);
	}

	private void rankZeroLeft(@Nullable CallReport last) {
		this.lastOfRankZero = last;
		this.peers.gone(0, PeerStatus.State.LEFT);
		this.events.departed(Departure.fromEveryGroup(0));
		this.labelled.fail(DepartedRanks.peerLost(RANK_ZERO));
		if (last != null) {
			compareWithRankZero(this.events.called(last.group(), last.call().sequence()));
		}
		resolvePendingLocally();
	}

	/** Compares a call with the last one of rank 0, which has left. */
	private void compareWithRankZero(@Nullable CallReport own) {
		CallReport last = this.lastOfRankZero;
		if (last != null && own != null && own.group().equals(last.group())
				&& own.call().sequence() == last.call().sequence() && own.differsFrom(last)) {
			failed(MismatchDetector.mismatch(0, last, this.rank, own));
		}
	}

	private void failed(Failure verdict) {
		boolean awaited = this.unanswered.keySet().removeIf((group) -> answers(verdict, group));
		if (!awaited && verdict.equals(this.last)) {
			return;
		}
		this.last = verdict;
		this.events.failed(verdict);
		if (verdict.kind() == Failure.Kind.PEER_LOST || verdict.group().equals(Failure.WORLD)) {
			this.labelled.fail(verdict);
		}
	}

	/**
	 * Whether a verdict answers this rank's report of a failure of a group. Any verdict
	 * on a lost rank answers those of groups that this rank has left.
	 */
	private boolean answers(Failure verdict, String group) {
		if (verdict.kind() != Failure.Kind.PEER_LOST || verdict.group().equals(group)) {
			return verdict.group().equals(group);
		}
		List<Integer> members = this.events.members(group);
		return members.isEmpty() || verdict.ranks().stream().anyMatch(members::contains);
	}

	private void drain(String reason) {
		if (this.draining.compareAndSet(false, true)) {
			this.events.drainRequested(reason);
		}
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.uplink.leave();
			this.labelled.close();
		}
	}

}
