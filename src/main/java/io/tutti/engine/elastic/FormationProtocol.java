package io.tutti.engine.elastic;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
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
import io.tutti.engine.elastic.FormationMessage.Redirect;
import io.tutti.engine.elastic.FormationMessage.Wait;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.tls.HandshakeDeadline;
import org.jspecify.annotations.Nullable;

/**
 * One member's part in one formation. The lowest slot among the live members of the
 * newest generation leads. It collects the requests of the others, decides by
 * {@link Quorum} whether they may continue, and proposes the next generation. Each member
 * accepts one proposal of a generation. When all have accepted, all run the ordinary
 * rendezvous, which needs every one of them. An attempt that loses a member starts over
 * with the next generation. The structure follows Paxos (Lamport, "The Part-Time
 * Parliament", 1998) with a quorum from which dead members are removed.
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

	/** A formed generation. */
	record Formed(Engine engine, Formation formation, Origin origin) {
	}

	private static final long POLL_MILLIS = 10;

	/** How often a leader asks the members that have not joined. */
	private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** A member that answers does so far sooner, also on a busy host. */
	private static final Duration LONGEST_PROBE = Duration.ofSeconds(2);

	/** For a member that has been silent for the heartbeat timeout. It may resume. */
	private static final Duration SILENT_PROBE = Duration.ofMillis(200);

	/** Time for an interrupted rendezvous to end. */
	private static final Duration CANCEL_LIMIT = Duration.ofSeconds(10);

	private final LocalMember member;

	private final FormationEndpoint endpoint;

	private final ElasticSettings elastic;

	private final EngineSettings settings;

	private final RankAssignment launched;

	private final CollectiveListener events;

	private final Consumer<List<Integer>> awaiting;

	private final Deadline deadline;

	/** Ids of members of the base whose process is known to be dead. */
	private final Set<String> dead;

	/** Ids of members of the base that the verdict declared lost by silence. */
	private final Set<String> silent;

	private final Duration probeLimit;

	/** Whether fewer ranks than the minimum are enough, since the job is about to end. */
	private final BooleanSupplier ending;

	private @Nullable RuntimeException lastFailure;

	private List<Integer> lastAwaited = List.of();

	FormationProtocol(LocalMember member, FormationEndpoint endpoint, ElasticSettings elastic, EngineSettings settings,
			RankAssignment launched, CollectiveListener events, Consumer<List<Integer>> awaiting, Set<String> dead,
			Set<String> silent, BooleanSupplier ending) {
		this.ending = ending;
		this.member = member;
		this.endpoint = endpoint;
		this.elastic = elastic;
		this.settings = settings;
		this.launched = launched;
		this.events = events;
		this.awaiting = awaiting;
		this.dead = Set.copyOf(dead);
		this.silent = Set.copyOf(silent);
		this.deadline = Deadline.after(settings.timeouts().rendezvous());
		Duration heartbeat = settings.timeouts().heartbeat();
		this.probeLimit = (heartbeat.compareTo(LONGEST_PROBE) < 0) ? heartbeat : LONGEST_PROBE;
	}

	/**
	 * Forms the next generation.
	 * @return the formed generation, or {@code null} if the job is done
	 * @throws RendezvousException if this member may not continue or the deadline passes
	 */
	@Nullable Formed form(boolean mayBeDone) {
		try {
			while (true) {
				Map<Integer, Answer> answers = askAll(Set.of(this.member.self().slot()));
				if (mayBeDone && someAreDone(answers)) {
					return null;
				}
				int leader = leader(answers);
				Formed formed = (leader == this.member.self().slot()) ? lead(answers)
						: (leader >= 0) ? follow(leader) : null;
				if (formed != null) {
					return formed;
				}
				if (leader < 0) {
					await(List.of(0));
				}
				requireTime();
				Thread.sleep(ThreadLocalRandom.current().nextLong(POLL_MILLIS, 4 * POLL_MILLIS));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw failure("interrupted while the group forms", List.of(), ex);
		}
	}

	private void requireTime() {
		if (this.deadline.expired()) {
			throw failure("the group did not form within " + this.deadline.timeout().toSeconds() + " s; awaited ranks: "
					+ this.lastAwaited
					+ ". Start them, check that the ranks reach each other's tutti.elastic.endpoints,"
					+ " or raise tutti.timeout.rendezvous", this.lastAwaited, this.lastFailure);
		}
	}

	private RendezvousException failure(String text, List<Integer> missing, @Nullable Exception cause) {
		return new RendezvousException(launchedHere(), Reason.TIMEOUT, text, missing, cause);
	}

	/** This member's place before the ranks of a generation are agreed. */
	private RankAssignment launchedHere() {
		return new RankAssignment(this.member.self().slot(), this.elastic.endpoints().size(), 0, 1,
				this.launched.masterAddress(), this.launched.masterPort());
	}

	private void await(List<Integer> slots) {
		if (!slots.equals(this.lastAwaited)) {
			this.lastAwaited = slots;
			this.awaiting.accept(slots);
		}
	}

	private Map<Integer, Answer> askAll(Set<Integer> except) throws InterruptedException {
		Map<Integer, CompletableFuture<Answer>> asked = new TreeMap<>();
		for (int slot = 0; slot < this.elastic.maxRanks(); slot++) {
			if (!except.contains(slot)) {
				int asking = slot;
				Duration limit = isSilent(slot) ? SILENT_PROBE : this.probeLimit;
				CompletableFuture<Answer> answer = new CompletableFuture<>();
				Thread.startVirtualThread(() -> answer.complete(this.endpoint.ask(asking, limit)));
				// For the connection and for the answer.
				asked.put(slot,
						answer.completeOnTimeout(new Answer.Silent(), 2 * limit.toMillis(), TimeUnit.MILLISECONDS));
			}
		}
		Map<Integer, Answer> answers = new TreeMap<>();
		for (Map.Entry<Integer, CompletableFuture<Answer>> entry : asked.entrySet()) {
			try {
				answers.put(entry.getKey(), entry.getValue().get());
			}
			catch (ExecutionException ex) {
				throw new IllegalStateException(ex.getCause());
			}
		}
		return answers;
	}

	/** Whether the member in a slot has been silent for the heartbeat timeout. */
	private boolean isSilent(int slot) {
		Formation base = this.member.base();
		return base != null && membersAt(slot, base).anyMatch((one) -> this.silent.contains(one.id()));
	}

	private boolean someAreDone(Map<Integer, Answer> answers) {
		Formation base = this.member.base();
		return base != null && answers.values()
			.stream()
			.anyMatch((answer) -> answer instanceof Answer.Alive(var status) && status.phase() == Phase.DONE
					&& status.base() != null && status.base().id().equals(base.id()));
	}

	/**
	 * The slot that leads: the lowest one of the newest generation, slot 0 at the
	 * founding.
	 * @return -1 if it is not there yet
	 */
	private int leader(Map<Integer, Answer> answers) {
		Formation newest = newest(answers);
		Formation own = this.member.base();
		int self = this.member.self().slot();
		if (newest == null) {
			return (self == 0 || answers.get(0) instanceof Answer.Alive) ? 0 : -1;
		}
		if (own != null && own.generation() < newest.generation()) {
			this.member.supersede(newest);
			own = null;
		}
		boolean included = own != null && own.id().equals(newest.id());
		return answers.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() instanceof Answer.Alive(var status) && status.base() != null
					&& status.base().id().equals(newest.id()) && status.phase() != Phase.DONE)
			.map(Map.Entry::getKey)
			.reduce(included ? self : -1, (a, b) -> (a < 0) ? b : Math.min(a, b));
	}

	private @Nullable Formation newest(Map<Integer, Answer> answers) {
		return Stream
			.concat(Stream.ofNullable(this.member.base()),
					answers.values()
						.stream()
						.map((answer) -> (answer instanceof Answer.Alive(var status)) ? status.base() : null))
			.filter((formation) -> formation != null)
			.max(Comparator.comparingLong(Formation::generation))
			.orElse(null);
	}

	// A member that follows

	private @Nullable Formed follow(int leader) throws InterruptedException {
		this.member.dismiss(new Redirect());
		await(List.of(leader));
		try (FormationLink link = this.endpoint.connect(leader, this.probeLimit)) {
			link.send(this.member.join(List.copyOf(this.dead)));
			FormationMessage message = link.receive(silenceLimit());
			while (message instanceof Wait) {
				requireTime();
				message = link.receive(silenceLimit());
			}
			return switch (message) {
				case Propose proposed -> accept(proposed, link);
				case NoQuorum(String reason) -> throw failure(reason, List.of(), null);
				default -> null;
			};
		}
		catch (IOException ex) {
			return null;
		}
	}

	private HandshakeDeadline silenceLimit() {
		return HandshakeDeadline.within(this.settings.timeouts().heartbeat());
	}

	private @Nullable Formed accept(Propose proposed, FormationLink link) throws IOException, InterruptedException {
		Formation formation = proposed.formation();
		if (!this.member.accept(formation, proposed.baseId())) {
			return null;
		}
		link.send(new Accepted(formation.id(), freePort()));
		FormationMessage message = link.receive(silenceLimit());
		while (message instanceof Wait) {
			message = link.receive(silenceLimit());
		}
		return (message instanceof Commit(String id, int port) && id.equals(formation.id()))
				? join(formation, proposed.baseId() == null, port, link) : null;
	}

	private @Nullable Formed join(Formation formation, boolean founds, int port, FormationLink link)
			throws InterruptedException {
		CompletableFuture<Boolean> leaderGone = new CompletableFuture<>();
		Thread.startVirtualThread(() -> {
			try {
				while (!(link.receive(() -> {
				}) instanceof Joined)) {
					// Wait messages show that the leader is alive.
				}
			}
			catch (IOException ex) {
				leaderGone.complete(true);
			}
		});
		Formed formed = attempt(formation, founds, port, leaderGone::isDone);
		if (formed != null) {
			link.trySend(new Joined(formation.id()));
		}
		return formed;
	}

	/** Runs the rendezvous until it ends or one of the members is lost. */
	private @Nullable Formed attempt(Formation formation, boolean founds, int port, BooleanSupplier lost)
			throws InterruptedException {
		CompletableFuture<Engine> joined = new CompletableFuture<>();
		Thread attempt = Thread.ofPlatform()
			.name("tutti-r" + formation.rankOf(this.member.self().id()) + "-rendezvous")
			.daemon()
			.start(() -> {
				try {
					joined.complete(Engine.joinElastic(assignment(formation, port),
							this.settings.withJob(this.settings.jobId() + "/" + formation.id(), formation.generation()),
							this.events));
				}
				catch (Throwable ex) {
					joined.completeExceptionally(ex);
				}
			});
		try {
			while (true) {
				try {
					return formed(joined.get(POLL_MILLIS, TimeUnit.MILLISECONDS), formation, founds);
				}
				catch (TimeoutException ex) {
					if (lost.getAsBoolean()) {
						attempt.interrupt();
						return formed(joined.get(CANCEL_LIMIT.toMillis(), TimeUnit.MILLISECONDS), formation, founds);
					}
				}
			}
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof BackendUnavailableException || ex.getCause() instanceof Error) {
				throw new IllegalStateException("the group cannot form", ex.getCause());
			}
			this.lastFailure = (ex.getCause() instanceof RuntimeException failed) ? failed : null;
			return null;
		}
		catch (TimeoutException | InterruptedException ex) {
			attempt.interrupt();
			joined.thenAccept(Engine::close);
			if (ex instanceof InterruptedException interrupted) {
				throw interrupted;
			}
			return null;
		}
	}

	private Formed formed(Engine engine, Formation formation, boolean founds) {
		Origin origin = founds ? Origin.FOUNDED : (this.member.base() != null) ? Origin.CONTINUED : Origin.JOINED;
		this.member.formed(formation);
		this.endpoint.reach(formation, this.probeLimit);
		return new Formed(engine, formation, origin);
	}

	/** The rank is the position among the slots; local ranks likewise, on each host. */
	private RankAssignment assignment(Formation formation, int port) {
		List<Member> members = formation.members();
		Member self = this.member.self();
		Member rankZero = members.getFirst();
		String host = rankZero.equals(self) ? this.elastic.endpoints().get(self.slot()).host()
				: this.endpoint.host(rankZero);
		List<Member> local = members.stream()
			.filter((other) -> other.hostIdentity().equals(self.hostIdentity()))
			.toList();
		return new RankAssignment(formation.rankOf(self.id()), members.size(),
				local.stream().map(Member::id).toList().indexOf(self.id()), local.size(), host, port);
	}

	// A member that leads

	private sealed interface Decision {

		record Proceed(List<LocalMember.Request> requests, @Nullable Formation base) implements Decision {
		}

		record Collect(List<Integer> slots) implements Decision {
		}

		record StepDown() implements Decision {
		}

		record GiveUp(String reason, List<Integer> missing) implements Decision {
		}

	}

	private @Nullable Formed lead(Map<Integer, Answer> first) throws InterruptedException {
		Map<Integer, Answer> answers = first;
		long startNanos = System.nanoTime();
		long askedNanos = startNanos;
		while (true) {
			List<LocalMember.Request> requests = this.member.requests();
			switch (decide(requests, answers, System.nanoTime() - startNanos)) {
				case Decision.Proceed(var all, var base) -> {
					return propose(all, base);
				}
				case Decision.StepDown() -> {
					this.member.dismiss(new Redirect());
					return null;
				}
				case Decision.GiveUp(String reason, var missing) -> {
					this.member.dismiss(new NoQuorum(reason));
					throw failure(reason, missing, this.lastFailure);
				}
				case Decision.Collect(List<Integer> slots) -> {
					await(slots);
					requireTime();
					this.member.await(POLL_MILLIS);
				}
			}
			if (System.nanoTime() - askedNanos >= ASK_NANOS) {
				Set<Integer> known = new TreeSet<>(Set.of(this.member.self().slot()));
				this.member.requests().forEach((request) -> known.add(request.join().member().slot()));
				answers = askAll(known);
				askedNanos = System.nanoTime();
			}
		}
	}

	private Decision decide(List<LocalMember.Request> requests, Map<Integer, Answer> answers, long elapsedNanos) {
		Formation base = this.member.base();
		Formation newest = Stream
			.concat(requests.stream().map((request) -> request.join().base()), Stream.ofNullable(newest(answers)))
			.filter((formation) -> formation != null)
			.max(Comparator.comparingLong(Formation::generation))
			.orElse(base);
		if (newest != null && (base == null || newest.generation() > base.generation())) {
			return new Decision.StepDown();
		}
		return (base == null) ? found(requests) : continueAfter(base, requests, answers, elapsedNanos);
	}

	private Decision found(List<LocalMember.Request> requests) {
		Set<Integer> present = requests.stream()
			.map((request) -> request.join().member().slot())
			.collect(Collectors.toCollection(TreeSet::new));
		present.add(this.member.self().slot());
		List<Integer> missing = Stream.iterate(0, (slot) -> slot + 1)
			.limit(this.launched.worldSize())
			.filter((slot) -> !present.contains(slot))
			.toList();
		return missing.isEmpty() ? new Decision.Proceed(requests, null) : new Decision.Collect(missing);
	}

	private Decision continueAfter(Formation base, List<LocalMember.Request> requests, Map<Integer, Answer> answers,
			long elapsedNanos) {
		List<Join> joins = new ArrayList<>(requests.stream().map(LocalMember.Request::join).toList());
		joins.add(this.member.join(List.copyOf(this.dead)));
		Set<String> present = joins.stream().map((join) -> join.member().id()).collect(Collectors.toSet());
		Set<Integer> slotsPresent = joins.stream().map((join) -> join.member().slot()).collect(Collectors.toSet());
		Set<String> closed = joins.stream().flatMap((join) -> join.dead().stream()).collect(Collectors.toSet());
		List<Integer> unanswered = Stream.iterate(0, (slot) -> slot + 1)
			.limit(this.elastic.maxRanks())
			.filter((slot) -> !slotsPresent.contains(slot) && !(answers.get(slot) instanceof Answer.Alive)
					&& !(answers.get(slot) instanceof Answer.Refused refused
							&& membersAt(slot, base).allMatch((one) -> this.endpoint.hasEnded(one, refused))))
			.toList();
		List<Formation> needed = new ArrayList<>(List.of(base));
		joins.forEach((join) -> join.accepted()
			.stream()
			.filter((formation) -> formation.generation() > base.generation()
					&& needed.stream().noneMatch((other) -> other.id().equals(formation.id())))
			.forEach(needed::add));
		List<Integer> waiting = new ArrayList<>();
		List<Integer> unknown = new ArrayList<>();
		boolean patient = elapsedNanos < this.settings.timeouts().heartbeat().toNanos();
		for (Member missing : base.members()) {
			if (present.contains(missing.id())) {
				continue;
			}
			Answer answer = answers.getOrDefault(missing.slot(), new Answer.Silent());
			boolean alive = answer instanceof Answer.Alive(var status) && status.member().id().equals(missing.id());
			if (alive && elapsedNanos < this.settings.timeouts().rendezvous().toNanos() / 2) {
				waiting.add(missing.slot());
			}
			else if (!alive && !this.endpoint.hasEnded(missing, answer) && !closed.contains(missing.id())) {
				unknown.add(missing.slot());
				if (patient && !this.silent.contains(missing.id()) && !slotsPresent.contains(missing.slot())) {
					waiting.add(missing.slot());
				}
			}
		}
		if (!waiting.isEmpty()) {
			return new Decision.Collect(waiting);
		}
		for (Formation formation : needed) {
			if (!continues(formation, present, closed, answers, unanswered.isEmpty(), slotsPresent)) {
				List<Integer> silence = unknown.isEmpty() ? unanswered : unknown;
				// An answer may be late, and a silent process may end now.
				return (patient && !silence.isEmpty()) ? new Decision.Collect(silence)
						: new Decision.GiveUp(noQuorum(formation, slotsPresent, silence), silence);
			}
		}
		List<Integer> absent = base.slots().stream().filter((slot) -> !slotsPresent.contains(slot)).toList();
		boolean settling = elapsedNanos < this.elastic.settle().toNanos() && !absent.isEmpty();
		if ((joins.size() < this.elastic.minRanks() || settling) && !this.ending.getAsBoolean()) {
			return new Decision.Collect(absent);
		}
		return new Decision.Proceed(requests, base);
	}

	/**
	 * Whether the present members may continue a generation. A closed control connection
	 * of the base shows that its process died before it could take part in a later
	 * formation. A connection that the address where it was reached refuses shows only
	 * that it is dead now. It leaves the count if every slot answers or refuses, since
	 * then no member of a later formation lives.
	 */
	private boolean continues(Formation formation, Set<String> present, Set<String> closed,
			Map<Integer, Answer> answers, boolean allAnswer, Set<Integer> slotsPresent) {
		List<Integer> here = new ArrayList<>();
		List<Integer> gone = new ArrayList<>();
		for (Member one : formation.members()) {
			Answer answer = answers.getOrDefault(one.slot(), new Answer.Silent());
			boolean alive = answer instanceof Answer.Alive(var status) && status.member().id().equals(one.id());
			if (present.contains(one.id())) {
				here.add(one.slot());
			}
			else if (!alive && (closed.contains(one.id())
					|| (allAnswer && (this.endpoint.hasEnded(one, answer) || slotsPresent.contains(one.slot()))))) {
				gone.add(one.slot());
			}
		}
		return Quorum.continues(formation.slots(), here, gone, this.elastic.quorum());
	}

	private static Stream<Member> membersAt(int slot, Formation formation) {
		return formation.members().stream().filter((one) -> one.slot() == slot);
	}

	private String noQuorum(Formation formation, Set<Integer> present, List<Integer> unknown) {
		return "ranks " + new TreeSet<>(present) + " may not continue generation " + formation.generation()
				+ " of ranks " + formation.slots() + ": ranks " + unknown
				+ " do not answer and may continue on the other side of a network partition. This side ends, so that the"
				+ " job never has two groups. Check the network and start these ranks again";
	}

	private @Nullable Formed propose(List<LocalMember.Request> requests, @Nullable Formation base)
			throws InterruptedException {
		Join own = this.member.join(List.of());
		long newest = Stream.concat(Stream.of(own), requests.stream().map(LocalMember.Request::join))
			.mapToLong((join) -> Math.max(join.acceptedGeneration(),
					(join.base() != null) ? join.base().generation() : -1))
			.max()
			.orElse(-1);
		List<Member> members = Stream
			.concat(Stream.of(this.member.self()), requests.stream().map((request) -> request.join().member()))
			.sorted(Comparator.comparingInt(Member::slot))
			.toList();
		Formation formation = new Formation(Math.max(newest + 1, Math.max(0, this.settings.generation())), randomId(),
				members);
		Propose proposal = new Propose(formation, (base != null) ? base.id() : null);
		if (!this.member.accept(formation, proposal.baseId())) {
			return null;
		}
		try {
			requests.forEach((request) -> request.link().trySend(proposal));
			Deadline limit = Deadline.after(this.settings.timeouts().heartbeat());
			while (!this.member.allAccepted(requests, formation.id())) {
				if (limit.expired() || this.member.anyLost(requests, formation.id())) {
					return null;
				}
				this.member.await(POLL_MILLIS);
			}
			int port = rendezvousPort(formation, requests);
			requests.forEach((request) -> request.link().trySend(new Commit(formation.id(), port)));
			Formed formed = attempt(formation, base == null, port, () -> this.member.anyLost(requests, formation.id()));
			if (formed != null) {
				requests.forEach((request) -> request.link().trySend(new Joined(formation.id())));
			}
			return formed;
		}
		finally {
			requests.forEach(this.member::ended);
		}
	}

	/** The port that rank 0 has chosen at its host. */
	private int rendezvousPort(Formation formation, List<LocalMember.Request> requests) {
		int rankZero = formation.members().getFirst().slot();
		return requests.stream()
			.filter((request) -> request.join().member().slot() == rankZero)
			.map(this.member::port)
			.findFirst()
			.orElseGet(this::freePort);
	}

	static String randomId() {
		byte[] id = new byte[16];
		new SecureRandom().nextBytes(id);
		return HexFormat.of().formatHex(id);
	}

	/**
	 * The rendezvous port at this host: the launcher's, unless a stopped process still
	 * holds it.
	 */
	private int freePort() {
		String bind = this.settings.bindAddress();
		String host = (bind != null) ? bind : this.elastic.endpoints().get(this.member.self().slot()).host();
		for (int port : new int[] { this.launched.masterPort(), 0 }) {
			try (ServerSocket socket = new ServerSocket()) {
				socket.setReuseAddress(true);
				socket.bind(new InetSocketAddress(InetAddress.getByName(host), port));
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				this.lastFailure = new RendezvousException(launchedHere(), Reason.ADDRESS,
						"cannot listen at " + host + ":" + port, List.of(), ex);
			}
		}
		throw failure("no port is free at " + host, List.of(), this.lastFailure);
	}

}
