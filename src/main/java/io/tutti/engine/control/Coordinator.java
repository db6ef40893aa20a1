package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import io.tutti.engine.CallReport;
import io.tutti.engine.CallSignature;
import io.tutti.engine.Failure;
import io.tutti.engine.control.ControlMessage.Announce;
import io.tutti.engine.control.ControlMessage.BarrierEnded;
import io.tutti.engine.control.ControlMessage.CallReported;
import io.tutti.engine.control.ControlMessage.CallsReported;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.Confirmed;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.EnterBarrier;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.LeftGroup;
import io.tutti.engine.control.ControlMessage.Matched;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.QueryCall;
import io.tutti.engine.control.ControlMessage.QueryTrace;
import io.tutti.engine.control.ControlMessage.QueryTraces;
import io.tutti.engine.control.ControlMessage.Report;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.RequestDrain;
import io.tutti.engine.control.ControlMessage.RollCall;
import io.tutti.engine.control.ControlMessage.RollCallReply;
import io.tutti.engine.control.ControlMessage.TraceReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.control.ControlMessage.Withdraw;

/**
 * What rank 0 decides for all: verdicts, differing calls, labelled barriers, announced
 * calls, the request to stop. Knows nothing of how messages travel. Not thread safe;
 * somebody must call {@link #tick()}.
 */
public final class Coordinator implements FailureResolver.Listener, MismatchDetector.Listener, BarrierService.Listener,
		CallMatcher.Listener, DepartureTracker.Listener {

	/** Takes rank 0's word to the ranks, rank 0 itself included. */
	public interface Downlink {

		void send(int rank, Notice notice);

		/** To every rank that can be reached. */
		void broadcast(Notice notice);

		/** A rank has gone; nothing is expected of it any more. */
		void gone(int rank, PeerStatus.State how);

	}

	private final Downlink downlink;

	private final LongSupplier nanoClock;

	private final RankLiveness liveness;

	private final DepartureTracker departures;

	private final FailureResolver verdicts;

	private final MismatchDetector posts;

	private final BarrierService barriers;

	private final CallMatcher matches;

	private boolean draining;

	public Coordinator(int worldSize, Duration verdictLimit, LongSupplier nanoClock, Downlink downlink) {
		this.downlink = downlink;
		this.nanoClock = nanoClock;
		this.liveness = new RankLiveness(worldSize);
		this.departures = new DepartureTracker(this.liveness, nanoClock, this);
		this.verdicts = new FailureResolver(this.liveness, this.departures, verdictLimit, nanoClock, this);
		this.posts = new MismatchDetector(worldSize, nanoClock, this);
		this.barriers = new BarrierService(worldSize, nanoClock, this);
		this.matches = new CallMatcher(worldSize, nanoClock, this);
	}

	/** A rank asks or tells something. */
	public void receive(int rank, Request request) {
		switch (request) {
			case Report(Failure failure) -> this.verdicts.report(rank, failure);
			case CallReported(CallReport post) -> compare(rank, post);
			case CallsReported(List<CallReport> posts) -> compare(rank, posts);
			case RollCallReply answer -> this.verdicts.answer(rank, answer);
			case EnterBarrier(RoundEntry entry) -> this.barriers.enter(rank, entry);
			case Announce(RoundEntry entry, CallSignature call) -> this.matches.announce(rank, entry, call);
			case Confirmed(long ticket, int attempt) -> {
				this.barriers.confirmed(rank, ticket, attempt);
				this.matches.confirmed(rank, ticket, attempt);
			}
			case Withdraw(long ticket) -> {
				this.barriers.withdraw(rank, ticket);
				this.matches.withdraw(rank, ticket);
			}
			case LeftGroup(String group, List<Integer> members, long completed) ->
				left(new Departure(rank, group, completed), members);
			case RequestDrain(String reason) -> drain(reason);
			case QueryTraces(long ticket, int limit) -> askOthers(rank, new QueryTrace(rank, ticket, limit));
			case TraceReply(int asker, long ticket, byte[] account) ->
				pass(asker, new ForwardedTrace(ticket, rank, account));
			case Leave(var cutOff) -> left(rank);
		}
	}

	/** A rank gives a sign of life. */
	public void seen(int rank, List<Progress> progress) {
		this.liveness.seen(rank, progress, this.nanoClock.getAsLong());
	}

	/** A rank ended or fell silent without a word. */
	public void lost(int rank, String detail) {
		if (this.liveness.gone(rank, PeerStatus.State.LOST)) {
			gone(rank, PeerStatus.State.LOST);
			this.verdicts.lost(rank, detail);
		}
	}

	/** Rank 0 is about to leave: what it has not told yet would never be told. */
	public void flushDepartures() {
		this.departures.tell();
	}

	public PeerStatus.State stateOf(int rank) {
		return this.liveness.of(rank);
	}

	public void tick() {
		this.departures.tick();
		this.verdicts.tick();
		this.posts.tick();
		this.barriers.tick();
		this.matches.tick();
	}

	/** Nanoseconds until {@link #tick()} has something to do. */
	public long nanosUntilDue() {
		long soonest = Math.min(this.departures.nanosUntilDue(),
				Math.min(this.verdicts.nanosUntilDue(), this.posts.nanosUntilDue()));
		return Math.min(soonest, Math.min(this.barriers.nanosUntilDue(), this.matches.nanosUntilDue()));
	}

	private void compare(int rank, CallReport post) {
		if (!this.verdicts.decided(post.group())) {
			this.posts.post(rank, post);
		}
	}

	private void compare(int rank, List<CallReport> batch) {
		if (!batch.isEmpty() && !this.verdicts.decided(batch.getFirst().group())) {
			this.posts.post(rank, batch);
		}
	}

	private void askOthers(int asker, Notice question) {
		for (int rank = 0; rank < this.liveness.worldSize(); rank++) {
			if (rank != asker && this.liveness.isUp(rank)) {
				this.downlink.send(rank, question);
			}
		}
	}

	/** The asker's number comes from another process. */
	private void pass(int asker, Notice answer) {
		if (this.liveness.holds(asker) && this.liveness.isUp(asker)) {
			this.downlink.send(asker, answer);
		}
	}

	private void left(Departure departure, List<Integer> members) {
		this.departures.left(departure, members);
		this.verdicts.left();
	}

	private void left(int rank) {
		if (this.liveness.gone(rank, PeerStatus.State.LEFT)) {
			this.departures.left(rank);
			gone(rank, PeerStatus.State.LEFT);
			this.verdicts.left();
		}
	}

	private void gone(int rank, PeerStatus.State how) {
		this.barriers.forget(rank);
		this.matches.forget(rank);
		this.downlink.gone(rank, how);
	}

	private void drain(String reason) {
		if (!this.draining) {
			this.draining = true;
			this.downlink.broadcast(new Drain(reason));
		}
	}

	@Override
	public void rollCall(long id, String group) {
		this.downlink.broadcast(new RollCall(id, group));
	}

	@Override
	public void verdict(Failure verdict) {
		this.posts.forget(verdict.group());
		this.downlink.broadcast(new Verdict(verdict));
	}

	@Override
	public void departed(int rank, List<Departure> news) {
		this.downlink.send(rank, new Departed(news));
	}

	@Override
	public void ask(int rank, String group, long sequence) {
		if (this.liveness.isUp(rank)) {
			this.downlink.send(rank, new QueryCall(group, sequence));
		}
	}

	@Override
	public void differ(int rank, Failure mismatch) {
		this.verdicts.report(rank, mismatch);
	}

	@Override
	public void confirm(int rank, long ticket, int attempt) {
		this.downlink.send(rank, new Confirm(ticket, attempt));
	}

	@Override
	public void ended(int rank, long ticket, BarrierOutcome outcome) {
		this.downlink.send(rank, new BarrierEnded(ticket, outcome));
	}

	@Override
	public void matched(int rank, long ticket, CallMatch match) {
		this.downlink.send(rank, new Matched(ticket, match));
	}

}
