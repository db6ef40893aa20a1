package io.tutti.engine.elastic;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.tutti.Failure;
import io.tutti.engine.elastic.FormationMessage.Accepted;
import io.tutti.engine.elastic.FormationMessage.AskStatus;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Join;
import io.tutti.engine.elastic.FormationMessage.Joined;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.Phase;
import io.tutti.engine.elastic.FormationMessage.Reply;
import io.tutti.engine.elastic.FormationMessage.Status;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * What this process has formed and accepted, and the requests to join that it has
 * received. Thread-safe; its monitor is notified of every change.
 */
final class LocalMember {

	/** Receives the news that a rank has left a generation because of a failure. */
	interface LeaveListener {

		void left(Formation formation, int rank, Failure failure);

	}

	/** A request to join, and the last reply of its sender. */
	static final class Request {

		private final Join join;

		private final FormationLink link;

		private @Nullable Reply reply;

		private boolean open = true;

		Request(Join join, FormationLink link) {
			this.join = join;
			this.link = link;
		}

		Join join() {
			return this.join;
		}

		FormationLink link() {
			return this.link;
		}

		private boolean hasReplied(Class<? extends Reply> type, String formation) {
			return type.isInstance(this.reply) && this.reply.formation().equals(formation);
		}

	}

	/**
	 * A process is left out for this many times as long as the others have waited for it,
	 * so that they stand still for a fifth of the time at most.
	 */
	private static final int PAUSE_FACTOR = 4;

	private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

	private final Member self;

	private Phase phase = Phase.FORMING;

	private @Nullable Formation base;

	/** Why this member has left its base, {@code null} if no failure broke it. */
	private @Nullable Failure broken;

	private volatile LeaveListener whenLeft = (formation, rank, failure) -> {
	};

	private long acceptedGeneration = -1;

	private final List<Formation> accepted = new ArrayList<>();

	/** By slot. */
	private final Map<Integer, Request> requests = new TreeMap<>();

	/**
	 * How long processes that have failed to join are left out, by slot: one that dies in
	 * each attempt and is replaced has a new id each time.
	 */
	private final Map<Integer, Deadline> leftOut = new HashMap<>();

	private boolean left;

	LocalMember(Member self) {
		this.self = self;
	}

	Member self() {
		return this.self;
	}

	synchronized Status status() {
		return new Status(this.self, this.phase, this.base);
	}

	synchronized @Nullable Formation base() {
		return this.base;
	}

	synchronized void enter(Phase next) {
		this.phase = next;
		notifyAll();
	}

	/**
	 * This member no longer runs its base.
	 * @param failure what broke it, {@code null} for no failure
	 */
	synchronized void formAgain(@Nullable Failure failure) {
		this.broken = failure;
		enter(Phase.FORMING);
	}

	/** The question to another slot. It tells the members of a broken base why. */
	synchronized AskStatus question() {
		boolean left = this.base != null && this.broken != null;
		return new AskStatus(left ? this.base.id() : null, left ? this.broken : null);
	}

	/**
	 * Sets the action for the news that another member has left the generation that runs
	 * here, with the failure.
	 */
	void whenLeft(LeaveListener action) {
		this.whenLeft = action;
	}

	/**
	 * Another member asks. A process may end without a packet that shows it to this one,
	 * as when its host fails: then those that have seen its end tell the others.
	 * @param asker id of the member
	 */
	void asked(String asker, AskStatus question) {
		Formation running = runningBase();
		Failure failure = question.failure();
		if (running == null || failure == null || !running.id().equals(question.left())) {
			return;
		}
		int rank = running.members().stream().map(Member::id).toList().indexOf(asker);
		if (rank >= 0) {
			this.whenLeft.left(running, rank, Failure.outside(failure.kind(), Failure.WORLD, failure.ranks(),
					failure.detail() + "; " + running.nameOf(rank) + " has left the group because of it"));
		}
	}

	private synchronized @Nullable Formation runningBase() {
		return (this.phase == Phase.RUNNING) ? this.base : null;
	}

	/**
	 * This member's own request to join. Of the formations with the same members it has
	 * one, since the same quorum is required of all of them.
	 */
	synchronized Join join(Set<String> dead) {
		Map<List<Member>, Formation> newest = new LinkedHashMap<>();
		this.accepted.forEach((formation) -> newest.put(formation.members(), formation));
		return new Join(this.self, this.base, List.copyOf(newest.values()), this.acceptedGeneration, List.copyOf(dead));
	}

	/**
	 * Accepts a formation, once for each generation, unless this member has left.
	 * @return whether it is accepted
	 */
	synchronized boolean accept(Formation proposed, @Nullable String baseId) {
		if (this.left || this.phase != Phase.FORMING || proposed.generation() <= this.acceptedGeneration
				|| (this.base != null && proposed.generation() <= this.base.generation())
				|| !proposed.members().contains(this.self)) {
			return false;
		}
		if (this.base != null && Stream.concat(Stream.of(this.base), this.accepted.stream())
			.noneMatch((one) -> one.id().equals(baseId))) {
			return false;
		}
		this.acceptedGeneration = proposed.generation();
		this.accepted.add(proposed);
		return true;
	}

	/**
	 * The group of a formation that this member has accepted has formed. If it does not
	 * lead the next one, it ends the requests of processes that are outside the group;
	 * members of the group may still wait for its last message.
	 */
	synchronized void formed(Formation formation) {
		this.base = formation;
		this.broken = null;
		this.accepted.clear();
		formation.slots().forEach(this.leftOut::remove);
		this.phase = Phase.RUNNING;
		if (!takesRequests()) {
			requests().stream()
				.filter((request) -> !formation.members().contains(request.join.member()))
				.forEach(this::drop);
		}
		notifyAll();
	}

	/** While a generation runs, only its rank 0 does: it leads the next formation. */
	private boolean takesRequests() {
		return !this.left && (this.phase != Phase.RUNNING || this.base == null
				|| this.base.members().getFirst().equals(this.self));
	}

	/** A newer generation has formed without this member, which now is a new one. */
	synchronized void supersede(Formation newer) {
		this.base = null;
		this.broken = null;
		this.accepted.removeIf((formation) -> formation.generation() <= newer.generation());
	}

	/**
	 * The member of a slot in the generation that runs, {@code null} if there is none, or
	 * if this member takes no requests to join.
	 */
	synchronized @Nullable Member running(int slot) {
		Formation running = takesRequests() ? runningBase() : null;
		return (running != null)
				? running.members().stream().filter((one) -> one.slot() == slot).findFirst().orElse(null) : null;
	}

	/**
	 * Adds a request to join. A newer one of the same slot replaces it.
	 * @return {@code false} if this member has left, another one leads, or the request
	 * comes from another process of this member's own slot
	 */
	synchronized boolean add(Request request) {
		if (!takesRequests() || request.join.member().slot() == this.self.slot()) {
			return false;
		}
		Request replaced = this.requests.put(request.join.member().slot(), request);
		if (replaced != null) {
			drop(replaced);
		}
		notifyAll();
		return true;
	}

	/** Takes no more requests to join, and ends those that there are. */
	void leave() {
		synchronized (this) {
			this.left = true;
		}
		dismiss(null);
	}

	synchronized boolean hasLeft() {
		return this.left;
	}

	synchronized void replied(Request request, Reply reply) {
		request.reply = reply;
		notifyAll();
	}

	synchronized void drop(Request request) {
		request.open = false;
		this.requests.remove(request.join.member().slot(), request);
		request.link.close();
		notifyAll();
	}

	/** The requests whose sender is connected, in order of the slots. */
	synchronized List<Request> requests() {
		return List.copyOf(this.requests.values());
	}

	/** The requests without those of processes that are left out for now. */
	synchronized List<Request> due() {
		return this.requests.values().stream().filter((request) -> {
			Deadline pause = this.leftOut.get(request.join.member().slot());
			return pause == null || pause.expired();
		}).toList();
	}

	/**
	 * Leaves a process out for a while, each time at least twice as long as before, up to
	 * a limit.
	 * @param waited how long the others have waited for it
	 * @param longest limit of the time
	 * @return how long it is left out
	 */
	synchronized Duration leaveOut(Member joining, Duration waited, Duration longest) {
		Deadline last = this.leftOut.get(joining.slot());
		Duration least = (last != null) ? last.timeout().multipliedBy(2) : SHORTEST_PAUSE;
		Duration pause = waited.multipliedBy(PAUSE_FACTOR);
		Deadline next = Deadline.after(Deadline.shorter(longest, (pause.compareTo(least) < 0) ? least : pause));
		this.leftOut.put(joining.slot(), next);
		return next.timeout();
	}

	/**
	 * Ends all requests to join.
	 * @param reason the last message, {@code null} if this member does not lead
	 */
	void dismiss(@Nullable FormationMessage reason) {
		for (Request request : requests()) {
			if (reason != null) {
				request.link.trySend(reason);
			}
			drop(request);
		}
	}

	synchronized boolean allAccepted(List<Request> requests, String formation) {
		return requests.stream().allMatch((request) -> request.hasReplied(Accepted.class, formation));
	}

	/** Whether the sender of a request is gone before it has joined. */
	synchronized boolean anyLost(List<Request> requests, String formation) {
		return requests.stream().anyMatch((request) -> !request.open && !request.hasReplied(Joined.class, formation));
	}

	/** The port that the sender of a request has offered with its acceptance. */
	synchronized int port(Request request) {
		return (request.reply instanceof Accepted accepted) ? accepted.port() : 0;
	}

	/** Waits for a change, for at most some time. */
	synchronized void await(long millis) throws InterruptedException {
		wait(millis);
	}

}
