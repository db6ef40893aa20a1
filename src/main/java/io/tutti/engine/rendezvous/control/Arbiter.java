package io.tutti.engine.rendezvous.control;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import io.tutti.engine.CallPost;
import io.tutti.engine.CallSignature;
import io.tutti.engine.Failure;
import io.tutti.engine.rendezvous.BarrierOutcome;
import io.tutti.engine.rendezvous.CallMatch;
import io.tutti.engine.rendezvous.Departure;
import io.tutti.engine.rendezvous.PeerStatus;
import io.tutti.engine.rendezvous.Progress;
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
import io.tutti.engine.rendezvous.wire.ControlMessage.TellAccount;
import io.tutti.engine.rendezvous.wire.ControlMessage.Verdict;
import io.tutti.engine.rendezvous.wire.ControlMessage.Withdraw;
import io.tutti.engine.rendezvous.wire.RoundEntry;

/**
 * What rank 0 decides for all: verdicts, differing calls, labelled barriers, announced
 * calls, the request to stop. Knows nothing of how messages travel. Not thread safe;
 * somebody must call {@link #tick()}.
 */
public final class Arbiter implements VerdictBook.Listener, PostBook.Listener, BarrierBook.Listener, MatchBook.Listener,
		DepartureBook.Listener {

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

	private final Presence presence;

	private final DepartureBook departures;

	private final VerdictBook verdicts;

	private final PostBook posts;

	private final BarrierBook barriers;

	private final MatchBook matches;

	private boolean draining;

	public Arbiter(int worldSize, Duration verdictLimit, LongSupplier nanoClock, Downlink downlink) {
		this.downlink = downlink;
		this.nanoClock = nanoClock;
		this.presence = new Presence(worldSize);
		this.departures = new DepartureBook(this.presence, nanoClock, this);
		this.verdicts = new VerdictBook(this.presence, this.departures, verdictLimit, nanoClock, this);
		this.posts = new PostBook(worldSize, nanoClock, this);
		this.barriers = new BarrierBook(worldSize, nanoClock, this);
		this.matches = new MatchBook(worldSize, nanoClock, this);
	}

	/** A rank asks or tells something. */
	public void receive(int rank, Request request) {
		switch (request) {
			case Report(Failure failure) -> this.verdicts.report(rank, failure);
			case Posted(CallPost post) -> compare(rank, post);
			case PostedBatch(List<CallPost> posts) -> compare(rank, posts);
			case RollAnswer answer -> this.verdicts.answer(rank, answer);
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
			case AskDrain(String reason) -> drain(reason);
			case AskAccounts(long ticket, int limit) -> askOthers(rank, new TellAccount(rank, ticket, limit));
			case Account(int asker, long ticket, byte[] account) -> pass(asker, new AccountOf(ticket, rank, account));
			case Goodbye(var cutOff) -> left(rank);
		}
	}

	/** A rank gives a sign of life. */
	public void seen(int rank, List<Progress> progress) {
		this.presence.seen(rank, progress, this.nanoClock.getAsLong());
	}

	/** A rank ended or fell silent without a word. */
	public void lost(int rank, String detail) {
		if (this.presence.gone(rank, PeerStatus.State.LOST)) {
			gone(rank, PeerStatus.State.LOST);
			this.verdicts.lost(rank, detail);
		}
	}

	/** Rank 0 is about to leave: what it has not told yet would never be told. */
	public void tellDepartures() {
		this.departures.tell();
	}

	public PeerStatus.State stateOf(int rank) {
		return this.presence.of(rank);
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

	private void compare(int rank, CallPost post) {
		if (!this.verdicts.decided(post.group())) {
			this.posts.post(rank, post);
		}
	}

	private void compare(int rank, List<CallPost> batch) {
		if (!batch.isEmpty() && !this.verdicts.decided(batch.getFirst().group())) {
			this.posts.post(rank, batch);
		}
	}

	private void askOthers(int asker, Notice question) {
		for (int rank = 0; rank < this.presence.worldSize(); rank++) {
			if (rank != asker && this.presence.isUp(rank)) {
				this.downlink.send(rank, question);
			}
		}
	}

	/** The asker's number comes from another process. */
	private void pass(int asker, Notice answer) {
		if (this.presence.holds(asker) && this.presence.isUp(asker)) {
			this.downlink.send(asker, answer);
		}
	}

	private void left(Departure departure, List<Integer> members) {
		this.departures.left(departure, members);
		this.verdicts.left();
	}

	private void left(int rank) {
		if (this.presence.gone(rank, PeerStatus.State.LEFT)) {
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
		if (this.presence.isUp(rank)) {
			this.downlink.send(rank, new AskCall(group, sequence));
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
