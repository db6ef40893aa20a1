package io.tutti.engine.elastic;

import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.bootstrap.HandshakeException;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.elastic.Continuation.Fate;
import io.tutti.engine.elastic.FormationEndpoint.Answer;
import io.tutti.engine.elastic.FormationMessage.Accepted;
import io.tutti.engine.elastic.FormationMessage.Commit;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Join;
import io.tutti.engine.elastic.FormationMessage.Joined;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.NoQuorum;
import io.tutti.engine.elastic.FormationMessage.Phase;
import io.tutti.engine.elastic.FormationMessage.Propose;
import io.tutti.engine.elastic.FormationMessage.Status;
import io.tutti.engine.elastic.FormationMessage.Wait;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.tls.HandshakeDeadline;
import org.jspecify.annotations.Nullable;

/**
 * One member's part in one formation. The lowest slot among the live members of the
 * newest generation leads. It collects the requests of the others, decides by
 * {@link Continuation} whether they may continue, and proposes the next generation. Each
 * member accepts one proposal of a generation. When all have accepted, all run the
 * ordinary rendezvous, which needs every one of them. An attempt that loses a member
 * starts over with the next generation. The structure follows Paxos (Lamport, "The
 * Part-Time Parliament", 1998) with a quorum from which dead members are removed.
 */
final class FormationProtocol {

	/** How this process came to be a member of a generation. */
	enum Origin {

		/** The generation founds the job. */
		FOUNDED,
		/** The process was a member of the generation that this one continues. */
		CONTINUED,
		/** The process has joined a job that ran without it. */
		JOINED

	}

	/**
	 * A formed generation.
	 *
	 * @param announced to run when the listeners know the generation: reports the
	 * failures since
	 */
	record Formed(Engine engine, Formation formation, Origin origin, Runnable announced) {
	}

	private static final long POLL_MILLIS = 10;

	/**
	 * While there is no leader, each of possibly many processes connects to all slots
	 * again and again.
	 */
	private static final long LONGEST_PAUSE_MILLIS = 1000;

	/** How often a leader asks the members that have not joined. */
	private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** A member that answers does so far sooner, also on a busy host. */
	private static final Duration LONGEST_PROBE = Duration.ofSeconds(2);

	/**
	 * Processes that have accepted a generation form it far sooner, also on a busy host.
	 */
	private static final Duration SHORTEST_ATTEMPT = Duration.ofSeconds(10);

	/** An attempt that fails leaves time for more before the rendezvous timeout. */
	private static final int ATTEMPTS = 4;

	/**
	 * Members that have accepted may be slow to join, and the others cannot do without
	 * them. One that was stopped leaves time for an attempt without it.
	 */
	private static final int PATIENT_ATTEMPTS = 2;

	/** For a member that has been silent for the heartbeat timeout. It may resume. */
	private static final Duration SILENT_PROBE = Duration.ofMillis(200);

	private final FormationContext context;

	private final LocalMember member;

	private final FormationRendezvous rendezvous;

	private final Consumer<List<Integer>> awaiting;

	private final Deadline deadline;

	/** Ids of members of the base whose process is known to be dead. */
	private final Set<String> dead;

	/** Ids of members of the base that the verdict declared lost by silence. */
	private final Set<String> silent;

	/** Whether fewer ranks than the minimum are enough, since the job is about to end. */
	private final BooleanSupplier ending;

	private List<Integer> lastAwaited = List.of();

	FormationProtocol(FormationContext context, Consumer<List<Integer>> awaiting, Set<String> dead, Set<String> silent,
			BooleanSupplier ending) {
		this.context = context;
		this.member = context.member();
		this.rendezvous = new FormationRendezvous(context);
		this.awaiting = awaiting;
		this.dead = dead;
		this.silent = silent;
		this.ending = ending;
		this.deadline = Deadline.after(context.settings().timeouts().rendezvous());
	}

	/**
	 * Forms the next generation.
	 * @return the formed generation, or {@code null} if the job is done
	 * @throws RendezvousException if this member may not continue or the deadline passes
	 * @throws IllegalStateException if this member leaves meanwhile
	 */
	@Nullable Formed form(boolean mayBeDone) {
		long pollMillis = POLL_MILLIS;
		try {
			while (true) {
				Map<Integer, Answer> answers = askAll(Set.of());
				if (mayBeDone && alive(answers).anyMatch(this::isDone)) {
					return null;
				}
				int leader = leader(answers);
				Formed formed = null;
				if (leader == this.member.self().slot()) {
					formed = lead(answers);
				}
				else if (leader >= 0) {
					formed = follow(leader);
				}
				else {
					awaitLeader(answers);
				}
				if (formed != null) {
					return formed;
				}
				requireTime();
				pollMillis = (leader < 0) ? Math.min(2 * pollMillis, LONGEST_PAUSE_MILLIS / 4) : POLL_MILLIS;
				Thread.sleep(ThreadLocalRandom.current().nextLong(pollMillis, 4 * pollMillis));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw failure("interrupted while the group forms", List.of(), ex);
		}
	}

	/** Ends the formation at its deadline, or when this member leaves. */
	private void requireTime() {
		if (this.member.hasLeft()) {
			throw new IllegalStateException("this rank has left the group");
		}
		if (this.deadline.expired()) {
			HandshakeException refusal = this.context.endpoint().refusal();
			Exception last = (refusal != null) ? refusal : this.rendezvous.lastFailure();
			throw failure(reason(refusal),
					"the group did not form within " + this.deadline.timeout().toSeconds() + " s; awaited ranks: "
							+ this.lastAwaited
							+ ". Start them, check that the ranks reach each other's tutti.elastic.endpoints,"
							+ " or raise tutti.timeout.rendezvous"
							+ ((last != null) ? ". The last attempt: " + last.getMessage() : ""),
					this.lastAwaited, last);
		}
	}

	/** Only a process that has not been a member of the job takes a refusal for final. */
	private Reason reason(@Nullable HandshakeException refusal) {
		Reason given = (refusal != null && this.member.base() == null) ? refusal.reason() : null;
		return (given != null) ? given : Reason.TIMEOUT;
	}

	private RendezvousException failure(String text, List<Integer> missing, @Nullable Exception cause) {
		return failure(Reason.TIMEOUT, text, missing, cause);
	}

	/** Before the ranks are agreed, the rank is the slot. */
	private RendezvousException failure(Reason reason, String text, List<Integer> missing, @Nullable Exception cause) {
		RankAssignment here = new RankAssignment(this.member.self().slot(), this.context.elastic().maxRanks(), 0, 1,
				this.context.launched().masterAddress(), this.context.launched().masterPort());
		return new RendezvousException(here, reason, text, missing, cause);
	}

	private void await(List<Integer> slots) {
		if (!slots.equals(this.lastAwaited)) {
			this.lastAwaited = slots;
			this.awaiting.accept(slots);
		}
	}

	/**
	 * Waits for the first rank of the newest generation, or until its other ranks know
	 * that this process has replaced it.
	 */
	private void awaitLeader(Map<Integer, Answer> answers) {
		Formation newest = newest(alive(answers).map(Status::base));
		int self = this.member.self().slot();
		await((newest == null) ? List.of(0) : newest.slots().stream().filter((slot) -> slot != self).limit(1).toList());
	}

	private Map<Integer, Answer> askAll(Set<Integer> except) throws InterruptedException {
		return this.context.endpoint().askAll(except, (slot) -> isSilent(slot) ? SILENT_PROBE : probeLimit());
	}

	/** Whether the member in a slot has been silent for the heartbeat timeout. */
	private boolean isSilent(int slot) {
		Formation base = this.member.base();
		return base != null
				&& base.members().stream().anyMatch((one) -> one.slot() == slot && this.silent.contains(one.id()));
	}

	private Duration probeLimit() {
		return Deadline.shorter(this.context.settings().timeouts().heartbeat(), LONGEST_PROBE);
	}

	private static Stream<Status> alive(Map<Integer, Answer> answers) {
		return answers.values()
			.stream()
			.flatMap((answer) -> (answer instanceof Answer.Alive(var status)) ? Stream.of(status) : Stream.of());
	}

	private boolean isDone(Status status) {
		return status.phase() == Phase.DONE && status.base() != null && status.base().equals(this.member.base());
	}

	/**
	 * The slot that leads: the lowest one of the newest generation, slot 0 at the
	 * founding. While that generation runs, a process joins at its rank 0 only.
	 * @return -1 if it does not answer
	 */
	private int leader(Map<Integer, Answer> answers) {
		Formation newest = newest(alive(answers).map(Status::base));
		Formation own = this.member.base();
		if (own != null && newest != null && own.generation() < newest.generation()
				&& !newest.members().contains(this.member.self())) {
			this.member.supersede(newest);
		}
		List<Status> members = alive(answers)
			.filter((status) -> Objects.equals(status.base(), newest) && status.phase() != Phase.DONE)
			.toList();
		boolean forms = newest != null && members.stream().anyMatch((status) -> status.phase() == Phase.FORMING);
		int first = (newest != null) ? newest.slots().getFirst() : 0;
		return members.stream()
			.mapToInt((status) -> status.member().slot())
			.filter((slot) -> forms || slot == first)
			.min()
			.orElse(-1);
	}

	private static @Nullable Formation newest(Stream<@Nullable Formation> formed) {
		return formed.filter(Objects::nonNull).max(Comparator.comparingLong(Formation::generation)).orElse(null);
	}

	// A member that follows

	private @Nullable Formed follow(int leader) throws InterruptedException {
		this.member.dismiss(null);
		await(List.of(leader));
		try (FormationLink link = this.context.endpoint().connect(leader, probeLimit())) {
			link.send(this.member.join(this.dead));
			return switch (decision(link)) {
				case Propose proposal when this.member.accept(proposal.formation(), proposal.baseId()) ->
					accept(proposal, link);
				case NoQuorum(String reason, List<Integer> missing) -> throw failure(reason, missing, null);
				default -> null;
			};
		}
		catch (IOException ex) {
			return null;
		}
	}

	/** The leader's next message other than a sign of life. */
	private FormationMessage decision(FormationLink link) throws IOException {
		FormationMessage message = receive(link);
		while (message instanceof Wait) {
			requireTime();
			message = receive(link);
		}
		return message;
	}

	private FormationMessage receive(FormationLink link) throws IOException {
		return link.receive(HandshakeDeadline.within(this.context.settings().timeouts().heartbeat()));
	}

	private @Nullable Formed accept(Propose proposal, FormationLink link) throws IOException, InterruptedException {
		String formation = proposal.formation().id();
		link.send(new Accepted(formation, this.rendezvous.freePort()));
		if (!(decision(link) instanceof Commit(String committed, int port) && committed.equals(formation))) {
			return null;
		}
		AtomicBoolean leaderLost = new AtomicBoolean();
		Thread.startVirtualThread(() -> leaderLost.set(!hasJoined(link)));
		Formed formed = join(proposal, port, leaderLost::get);
		if (formed != null) {
			link.trySend(new Joined(formation));
		}
		return formed;
	}

	/** Waits until the leader has joined the group or is lost. */
	private boolean hasJoined(FormationLink link) {
		try {
			while (!(receive(link) instanceof Joined)) {
				// Other messages show that the leader is alive.
			}
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private @Nullable Formed join(Propose proposal, int port, BooleanSupplier lost) throws InterruptedException {
		Formation formation = proposal.formation();
		FormationRendezvous.Joined joined = this.rendezvous.join(formation, port, proposal.trial(),
				() -> this.member.hasLeft() || lost.getAsBoolean());
		if (joined == null) {
			return null;
		}
		Origin origin = (proposal.baseId() == null) ? Origin.FOUNDED
				: (this.member.base() != null) ? Origin.CONTINUED : Origin.JOINED;
		this.member.formed(formation);
		this.context.endpoint().learnAddresses(formation, probeLimit());
		return new Formed(joined.engine(), formation, origin, joined.announced());
	}

	// A member that leads

	private @Nullable Formed lead(Map<Integer, Answer> first) throws InterruptedException {
		Map<Integer, Answer> answers = first;
		long startNanos = System.nanoTime();
		long askedNanos = startNanos;
		while (true) {
			Formation base = this.member.base();
			List<LocalMember.Request> requests = requests(base, answers);
			List<Join> joins = joins(requests);
			if (!Objects.equals(base, newest(joins.stream().map(Join::base)))
					|| leader(answers) != this.member.self().slot()) {
				this.member.dismiss(null);
				return null;
			}
			Set<Integer> present = Continuation.present(joins);
			if (hasUnasked(present, answers)) {
				requireTime();
				answers = askAll(present);
				askedNanos = System.nanoTime();
				continue;
			}
			boolean patient = System.nanoTime() - startNanos < this.context.settings().timeouts().heartbeat().toNanos();
			List<Integer> awaited = (base == null) ? absentFounders(joins, answers, patient)
					: absent(continuation(base, joins, answers), patient);
			if (awaited == null) {
				return propose(base, joins, requests);
			}
			await(awaited);
			requireTime();
			this.member.await(POLL_MILLIS);
			if (System.nanoTime() - askedNanos >= ASK_NANOS) {
				answers = askAll(present);
				askedNanos = System.nanoTime();
			}
		}
	}

	/**
	 * Whether a member took part when all others were asked last, and does not any more.
	 * It may answer, or have ended: nothing is decided before it was asked.
	 */
	private boolean hasUnasked(Set<Integer> present, Map<Integer, Answer> answers) {
		return IntStream.range(0, this.context.elastic().maxRanks())
			.anyMatch((slot) -> !present.contains(slot) && !answers.containsKey(slot));
	}

	/**
	 * The requests of this attempt: without those that are left out, if the others may
	 * continue without them.
	 */
	private List<LocalMember.Request> requests(@Nullable Formation base, Map<Integer, Answer> answers) {
		List<LocalMember.Request> due = this.member.due();
		return (base == null || continuation(base, joins(due), answers).withoutQuorum() == null) ? due
				: this.member.requests();
	}

	private List<Join> joins(List<LocalMember.Request> requests) {
		return Stream.concat(Stream.of(this.member.join(this.dead)), requests.stream().map(LocalMember.Request::join))
			.toList();
	}

	private Continuation continuation(Formation base, List<Join> joins, Map<Integer, Answer> answers) {
		return new Continuation(base, joins, answers, this.context.elastic(), this.context.endpoint()::hasEnded);
	}

	/**
	 * The founding needs every launched rank, and awaits an answer of the others: in a
	 * job that has grown, one that is stopped for a while may hold a generation, of which
	 * all launched ranks were lost and restarted. {@code null} if none is awaited.
	 */
	private @Nullable List<Integer> absentFounders(List<Join> joins, Map<Integer, Answer> answers, boolean patient) {
		Set<Integer> present = Continuation.present(joins);
		int launched = this.context.launched().worldSize();
		List<Integer> absent = GroupIdentity.ranksWhere(this.context.elastic().maxRanks(),
				(slot) -> !present.contains(slot) && (slot < launched || (patient
						&& answers.get(slot) instanceof Answer.Silent && !this.context.endpoint().isNameless(slot))));
		return absent.isEmpty() ? null : absent;
	}

	/**
	 * The slots to wait for, {@code null} if the present members continue.
	 * @param patient whether a process that does not answer may still show that it has
	 * ended, since this member has led for less than the heartbeat timeout
	 * @throws RendezvousException if they may not, after the others were told
	 */
	private @Nullable List<Integer> absent(Continuation next, boolean patient) {
		long elapsedNanos = this.deadline.elapsedNanos();
		boolean early = elapsedNanos < this.context.settings().timeouts().rendezvous().toNanos() / 2;
		List<Integer> waiting = next.slots((missing, fate) -> switch (fate) {
			case ALIVE, FORMING -> early;
			case SILENT -> patient && !this.silent.contains(missing.id());
			case PRESENT, DIED, GONE -> false;
		});
		if (!waiting.isEmpty()) {
			return waiting;
		}
		Formation withoutQuorum = next.withoutQuorum();
		if (withoutQuorum != null) {
			List<Integer> joining = next.slots(withoutQuorum,
					(_, fate) -> fate == Fate.FORMING || (early && fate == Fate.ALIVE));
			List<Integer> silence = patient ? next.silence(withoutQuorum) : List.of();
			if (joining.isEmpty() && silence.isEmpty()) {
				throw noQuorum(next, withoutQuorum);
			}
			// A process may join again, or form a group with others that this one learns
			// of. An answer may be late, and a silent process may end now.
			return joining.isEmpty() ? silence : joining;
		}
		List<Integer> absent = next.base().slots().stream().filter((slot) -> !next.present().contains(slot)).toList();
		boolean settling = elapsedNanos < this.context.elastic().settle().toNanos() && !absent.isEmpty();
		boolean tooFew = next.joins().size() < this.context.elastic().minRanks();
		return ((tooFew || settling) && !this.ending.getAsBoolean()) ? absent : null;
	}

	/** Tells the members that have joined that they may not continue. */
	private RendezvousException noQuorum(Continuation next, Formation formation) {
		List<Integer> silence = next.silence(formation);
		List<Integer> alive = next.alive(formation);
		List<Integer> ended = next.countedAfterTheirEnd(formation)
			.stream()
			.filter((slot) -> !silence.contains(slot))
			.toList();
		String causes = Stream.of(cause("ranks ", silence,
				" do not answer and may continue on the other side of a network partition. This"
						+ " side ends, so that the job never has two groups. Check the network and start these ranks again"),
				cause("ranks ", alive, " answer and have not taken part for half of tutti.timeout.rendezvous ("
						+ this.deadline.timeout().toSeconds() + " s). Let a loop end with the exception of a failed"
						+ " call, or raise this limit if a step takes longer, and start the job again"),
				cause("the processes of ranks ", ended, " of this generation have ended, and"
						+ " tutti.elastic.quorum=strict counts them. Start the job again, from its last checkpoint"
						+ " if it has one"))
			.flatMap(Function.identity())
			.collect(Collectors.joining(". In addition, "));
		String reason = "ranks " + next.present() + " may not continue generation " + formation.generation()
				+ " of ranks " + formation.slots() + ": " + causes;
		List<Integer> missing = Stream.of(silence, alive, ended).flatMap(List::stream).sorted().toList();
		this.member.dismiss(new NoQuorum(reason, missing));
		return failure(reason, missing, this.rendezvous.lastFailure());
	}

	private static Stream<String> cause(String before, List<Integer> slots, String after) {
		return slots.isEmpty() ? Stream.of() : Stream.of(before + slots + after);
	}

	private @Nullable Formed propose(@Nullable Formation base, List<Join> joins, List<LocalMember.Request> requests)
			throws InterruptedException {
		long newest = joins.stream().mapToLong(Join::newestGeneration).max().orElse(-1);
		List<Member> members = joins.stream().map(Join::member).sorted(Comparator.comparingInt(Member::slot)).toList();
		Formation formation = new Formation(Math.max(newest + 1, this.context.settings().generation()),
				FormationMessage.randomId(), members);
		List<Member> joining = (base == null) ? List.of()
				: members.stream().filter((one) -> !base.members().contains(one)).toList();
		boolean ownFault = false;
		Propose proposal = new Propose(formation, (base != null) ? base.id() : null, !joining.isEmpty());
		if (!this.member.accept(formation, proposal.baseId())) {
			return null;
		}
		Deadline limit = Deadline.after(attemptLimit());
		Formed formed = null;
		try {
			formed = attempt(proposal, requests, limit);
			return formed;
		}
		catch (IOException ex) {
			ownFault = true;
			return null;
		}
		finally {
			if (formed == null && !ownFault) {
				leaveOut(joining, formation, limit);
			}
			requests.forEach(this.member::drop);
		}
	}

	private Duration attemptLimit() {
		Duration heartbeat = this.context.settings().timeouts().heartbeat();
		Duration patient = (heartbeat.compareTo(SHORTEST_ATTEMPT) < 0) ? SHORTEST_ATTEMPT : heartbeat;
		return Deadline.shorter(this.context.settings().timeouts().rendezvous().dividedBy(ATTEMPTS), patient);
	}

	/**
	 * Forms a generation that this member has accepted and proposes.
	 * @param limit until all must have accepted, and if it is a trial, joined
	 */
	private @Nullable Formed attempt(Propose proposal, List<LocalMember.Request> requests, Deadline limit)
			throws IOException, InterruptedException {
		Formation formation = proposal.formation();
		String id = formation.id();
		requests.forEach((request) -> request.link().trySend(proposal));
		while (!this.member.allAccepted(requests, id)) {
			if (limit.expired() || this.member.anyLost(requests, id)) {
				return null;
			}
			this.member.await(POLL_MILLIS);
		}
		requireTime();
		int port = formation.members().getFirst().equals(this.member.self()) ? this.rendezvous.freePort()
				: this.member.port(requests.getFirst());
		requests.forEach((request) -> request.link().trySend(new Commit(id, port)));
		Deadline joined = proposal.trial() ? limit
				: Deadline.after(this.deadline.remaining().plusNanos(1).dividedBy(PATIENT_ATTEMPTS));
		Formed formed = join(proposal, port, () -> this.member.anyLost(requests, id) || joined.expired());
		if (formed != null) {
			requests.forEach((request) -> request.link().trySend(new Joined(id)));
		}
		return formed;
	}

	/** An attempt that failed before its limit may have lost another member. */
	private void leaveOut(List<Member> joining, Formation formation, Deadline limit) {
		Duration took = limit.elapsed();
		for (Member one : joining) {
			Duration pause = this.member.leaveOut(one, limit.expired() ? took : Duration.ZERO,
					this.context.settings().timeouts().rendezvous());
			this.context.events()
				.warn("generation " + formation.generation() + " did not form with the process that joins as rank "
						+ one.slot() + " (" + took.toMillis() + " ms). The others may continue without it for "
						+ pause.toMillis()
						+ " ms. If this repeats, check that its host and those of the other ranks reach"
						+ " each other at the rendezvous port and the ports for data");
		}
	}

}
