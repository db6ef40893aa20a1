package io.tutti.engine.elastic;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.FreePort;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import io.tutti.engine.elastic.FormationEndpoint.Answer;
import io.tutti.engine.elastic.FormationMessage.Accepted;
import io.tutti.engine.elastic.FormationMessage.Commit;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.Propose;
import io.tutti.engine.elastic.FormationProtocol.Formed;
import io.tutti.engine.elastic.FormationProtocol.Origin;
import io.tutti.engine.spi.Deadline;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Members of one process that do not reach each other at every time.
 */
@Order(4)
@Timeout(60)
class FormationProtocolTest {

	private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

	private final List<Party> parties = new ArrayList<>();

	private final List<ServerSocket> relays = new ArrayList<>();

	/** One member with its endpoint. Members reach slot 0 only when it is visible. */
	private static final class Party {

		private final ElasticMembers ranks;

		private EngineSettings settings;

		private ElasticSettings elastic;

		private final LocalMember member;

		private final FormationEndpoint endpoint;

		private final CompletableFuture<Formed> formed = new CompletableFuture<>();

		private final CountDownLatch awaits = new CountDownLatch(1);

		private final AtomicInteger lookups = new AtomicInteger();

		private final List<Failure> failures = new CopyOnWriteArrayList<>();

		private final List<String> warnings = new CopyOnWriteArrayList<>();

		private final List<Integer> withdrawn = new CopyOnWriteArrayList<>();

		private volatile boolean seesFirst = true;

		private volatile InetAddress first = InetAddress.getLoopbackAddress();

		private Set<String> dead = Set.of();

		Party(ElasticMembers ranks, EngineSettings settings, Member self) {
			this.ranks = ranks;
			this.settings = settings;
			this.elastic = ranks.elastic();
			this.member = new LocalMember(self);
			List<Endpoint> endpoints = new ArrayList<>(ranks.elastic().endpoints());
			if (self.slot() != 0) {
				endpoints.set(0, new Endpoint("first", endpoints.getFirst().port()));
			}
			this.endpoint = FormationEndpoint.open(this.member, settings, endpoints, this.warnings::add,
					this::addresses);
		}

		private InetAddress[] addresses(String host) throws UnknownHostException {
			this.lookups.incrementAndGet();
			if (host.equals("first") && !this.seesFirst) {
				throw new UnknownHostException(host);
			}
			return new InetAddress[] { host.equals("first") ? this.first : InetAddress.getLoopbackAddress() };
		}

		void form(int awaited) {
			int slot = this.member.self().slot();
			FormationProtocol protocol = new FormationProtocol(
					new FormationContext(this.member, this.endpoint, this.elastic, this.settings,
							RankAssignment.onOneHost(slot, slot + 1, 29500), new CollectiveListener() {
								@Override
								public void broken(Failure failure) {
									Party.this.failures.add(failure);
								}

								@Override
								public void withdrew(int rank) {
									Party.this.withdrawn.add(rank);
								}
							}),
					(slots) -> {
						if (slots.equals(List.of(awaited))) {
							this.awaits.countDown();
						}
					}, this.dead, Set.of(), () -> false);
			Thread.ofPlatform().daemon().start(() -> {
				try {
					this.formed.complete(protocol.form(false));
				}
				catch (Throwable ex) {
					this.formed.completeExceptionally(ex);
				}
			});
		}

		boolean awaits() throws InterruptedException {
			return this.awaits.await(20, TimeUnit.SECONDS);
		}

	}

	private Party party(ElasticMembers ranks, Member self) {
		return party(ranks, ranks.settings(), self);
	}

	private Party party(ElasticMembers ranks, EngineSettings settings, Member self) {
		Party party = new Party(ranks, settings, self);
		this.parties.add(party);
		return party;
	}

	/**
	 * Lets a party reach the formation endpoint of slot 0 and no other port there, as
	 * behind a firewall.
	 */
	private void reachOnlyTheEndpointOfTheFirst(Party party) throws IOException {
		InetAddress address = InetAddress.getByName("127.0.0.2");
		int port = party.ranks.elastic().endpoints().getFirst().port();
		ServerSocket server = new ServerSocket(port, 50, address);
		this.relays.add(server);
		party.first = address;
		Thread.ofPlatform().daemon().start(() -> {
			try {
				while (true) {
					Socket client = server.accept();
					Socket endpoint = new Socket(InetAddress.getLoopbackAddress(), port);
					relay(client, endpoint);
					relay(endpoint, client);
				}
			}
			catch (IOException ex) {
				// The test or the endpoint has ended.
			}
		});
	}

	private static void relay(Socket from, Socket to) {
		Thread.ofPlatform().daemon().start(() -> {
			try (from; to) {
				from.getInputStream().transferTo(to.getOutputStream());
			}
			catch (IOException ex) {
				// One side has ended.
			}
		});
	}

	@AfterEach
	void close() throws IOException {
		for (ServerSocket relay : this.relays) {
			relay.close();
		}
		for (Party party : this.parties) {
			party.member.leave();
			party.formed.thenAccept((formed) -> formed.engine().close());
			party.endpoint.close();
		}
	}

	@Test
	void aLeaderFollowsALowerMemberThatAnswersLater() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(1, "a1", "host"));
		Party first = party(ranks, members.getFirst());
		Party second = party(ranks, members.getLast());
		for (Party party : this.parties) {
			party.member.formed(new Formation(0, "f0", members));
			party.member.formAgain(null);
		}
		second.seesFirst = false;
		second.form(0);
		assertThat(second.awaits()).isTrue();
		first.form(1);
		assertThat(first.awaits()).isTrue();
		second.seesFirst = true;
		for (Party party : this.parties) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
		}
	}

	@Test
	void theMembersContinueWithoutAProcessThatDoesNotReachTheRendezvous() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1, Duration.ofSeconds(12));
		List<Party> members = twoMembers(ranks, ranks.settings());
		Party joining = party(ranks, new Member(2, "b2", "host"));
		reachOnlyTheEndpointOfTheFirst(joining);
		requireContinuedWithout(joining, members);
		LocalMember leader = members.getFirst().member;
		Awaitility.await().until(() -> leader.requests().size() == 1);
		assertThat(leader.due()).as("it waits for its next attempt").isEmpty();
		assertThatThrownBy(joining.formed::get).cause()
			.isInstanceOf(RendezvousException.class)
			.hasMessageContaining("awaited ranks: [0]")
			.hasMessageContaining("waiting for the other ranks at 127.0.0.2:")
			.hasMessageContaining("Connection refused");
	}

	@Test
	void theMembersContinueWithoutAProcessThatDoesNotReachADataPort() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1, Duration.ofSeconds(12));
		EngineSettings all = ranks.settings();
		// Rank 1 connects to rank 0, and rank 2 would connect to both.
		EngineSettings unreachable = new EngineSettings(all.backend(), all.jobId(), all.token(), all.generation(), null,
				"127.0.0.3", "127.0.0.1", 0, all.congestionControl(), all.sharedConfig(), all.timeouts(), null);
		List<Party> members = twoMembers(ranks, unreachable);
		requireContinuedWithout(party(ranks, new Member(2, "b2", "host")), members);
	}

	private List<Party> twoMembers(ElasticMembers ranks, EngineSettings settingsOfTheSecond) {
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(1, "a1", "host"));
		for (Member each : members) {
			Party party = party(ranks, (each.slot() == 1) ? settingsOfTheSecond : ranks.settings(), each);
			party.member.formed(new Formation(0, "f0", members));
			party.member.formAgain(null);
		}
		return List.copyOf(this.parties);
	}

	private static void requireContinuedWithout(Party joining, List<Party> members) throws Exception {
		joining.form(0);
		Awaitility.await().until(() -> members.getFirst().member.due().size() == 1);
		for (Party party : members) {
			party.form(0);
		}
		for (Party party : members) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
			assertThat(party.formed.get().origin()).isEqualTo(Origin.CONTINUED);
			assertThat(party.failures).as("no group has broken").isEmpty();
		}
	}

	/** The process that joins is rank 0 of the generation that does not form. */
	@Test
	void theLastMemberContinuesWithoutAProcessWhoseRendezvousItDoesNotReach() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1, Duration.ofSeconds(12));
		Party joining = party(ranks, new Member(0, "b0", "host"));
		Party last = party(ranks, new Member(1, "a1", "host"));
		reachOnlyTheEndpointOfTheFirst(last);
		last.member.formed(new Formation(1, "f1", List.of(last.member.self())));
		last.member.formAgain(null);
		joining.form(1);
		Awaitility.await().until(() -> last.member.due().size() == 1);
		last.form(0);
		assertThat(last.formed.get().formation().slots()).containsExactly(1);
		assertThat(last.formed.get().origin()).isEqualTo(Origin.CONTINUED);
	}

	@Test
	void aProcessIsNotLeftOutIfTheOthersMayNotContinueWithoutIt() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		Party joining = party(ranks, new Member(0, "b0", "host"));
		Party last = lastWithAcceptedFormation(ranks, joining);
		assertThat(last.member.leaveOut(joining.member.self(), Duration.ofSeconds(60), LONGEST_PAUSE)).hasSeconds(240);
		joining.form(1);
		last.form(0);
		for (Party party : this.parties) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
		}
	}

	/** It may hold a generation of a job that has grown. */
	@Test
	void theLaunchedRanksFoundNoGroupWhileAFurtherRankIsSilent() throws Exception {
		ElasticMembers ranks = new ElasticMembers(1, 3, 1);
		Party founder = party(ranks, new Member(0, "a0", "host"));
		try (var _ = new ServerSocket(ranks.elastic().endpoints().get(2).port(), 1, InetAddress.getLoopbackAddress())) {
			founder.form(2);
			assertThat(founder.awaits()).isTrue();
			assertThat(founder.formed).isNotDone();
		}
		assertThat(founder.formed.get().formation().slots()).containsExactly(0);
	}

	/** A member that died may have formed the generation with the process that joins. */
	private Party lastWithAcceptedFormation(ElasticMembers ranks, Party joining) {
		Party last = party(ranks, new Member(1, "a1", "host"));
		Member died = new Member(2, "a2", "host");
		last.dead = Set.of(died.id());
		last.member.formed(new Formation(1, "f1", List.of(last.member.self(), died)));
		last.member.formAgain(null);
		last.member.accept(new Formation(2, "f2", List.of(joining.member.self(), last.member.self(), died)), "f1");
		return last;
	}

	@Test
	void aMemberWithoutAQuorumNamesTheMembersThatAnswerAndDoNotTakePart() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1, Duration.ofSeconds(3));
		List<Party> members = IntStream.range(0, 3)
			.mapToObj((slot) -> party(ranks, new Member(slot, "a" + slot, "host")))
			.toList();
		Formation base = new Formation(0, "f0", members.stream().map((party) -> party.member.self()).toList());
		members.forEach((party) -> party.member.formed(base));
		members.getFirst().member.formAgain(null);
		members.getFirst().form(0);
		assertThatThrownBy(members.getFirst().formed::get).cause()
			.isInstanceOfSatisfying(RendezvousException.class, (ex) -> assertThat(ex.peers()).containsExactly(1, 2))
			.hasMessageContaining("ranks [0] may not continue generation 0 of ranks [0, 1, 2]: ranks [1, 2] answer and"
					+ " have not taken part")
			.hasMessageContaining("tutti.timeout.rendezvous")
			.hasMessageNotContaining("network");
	}

	/** Another one forms with a rank that this one does not reach, and may take long. */
	@Test
	void aMemberWithoutAQuorumAwaitsAMemberThatFormsWithOthers() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1, Duration.ofSeconds(3));
		EngineSettings settings = withHeartbeat(ranks.settings(), Duration.ofSeconds(1));
		List<Party> members = IntStream.range(1, 3)
			.mapToObj((slot) -> party(ranks, settings, new Member(slot, "a" + slot, "host")))
			.toList();
		Member first = new Member(0, "a0", "host");
		Party left = members.getFirst();
		Party other = members.getLast();
		Formation base = new Formation(0, "f0", List.of(first, left.member.self(), other.member.self()));
		for (Party party : members) {
			party.member.formed(base);
			party.member.formAgain(null);
		}
		left.form(2);
		Thread.sleep(2000);
		assertThat(left.formed).as("after half of the timeout").isNotDone();
		other.member.formed(new Formation(1, "f1", List.of(first, other.member.self())));
		assertThatThrownBy(left.formed::get).hasMessageContaining("awaited ranks: [0]");
	}

	@Test
	void aMemberWithoutAStrictQuorumNamesTheMembersThatHaveEnded() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<Party> members = IntStream.range(0, 3)
			.mapToObj((slot) -> party(ranks, new Member(slot, "a" + slot, "host")))
			.toList();
		Party last = members.getFirst();
		last.elastic = new ElasticSettings(1, Duration.ZERO, 0, QuorumRule.STRICT, ranks.elastic().endpoints());
		last.member.formed(new Formation(0, "f0", members.stream().map((party) -> party.member.self()).toList()));
		assertThat(last.endpoint.askAll(Set.of(), (_) -> Duration.ofSeconds(20)).values())
			.hasOnlyElementsOfType(Answer.Alive.class);
		members.subList(1, 3).forEach((party) -> party.endpoint.close());
		last.member.formAgain(null);
		last.form(0);
		assertThatThrownBy(last.formed::get).cause()
			.isInstanceOfSatisfying(RendezvousException.class, (ex) -> assertThat(ex.peers()).containsExactly(1, 2))
			.hasMessageContaining("ranks [0] may not continue generation 0 of ranks [0, 1, 2]: the processes of ranks"
					+ " [1, 2] of this generation have ended, and tutti.elastic.quorum=strict counts them")
			.hasMessageContaining("Start the job again")
			.hasMessageNotContaining("network");
	}

	/** Ended processes leave the count only if every slot is known. */
	@Test
	void theLastMemberAsksAMemberThatIsLostWhileItLeadsBeforeItDecides() throws Exception {
		ElasticMembers ranks = new ElasticMembers(4, 4, 3);
		Duration heartbeat = Duration.ofSeconds(2);
		EngineSettings settings = withHeartbeat(ranks.settings(), heartbeat);
		List<Party> members = IntStream.range(0, 4)
			.mapToObj((slot) -> party(ranks, settings, new Member(slot, "a" + slot, "host")))
			.toList();
		Formation base = new Formation(0, "f0", members.stream().map((party) -> party.member.self()).toList());
		members.forEach((party) -> party.member.formed(base));
		Party last = members.get(1);
		Party lost = members.get(2);
		for (Party party : List.of(last, lost)) {
			party.dead = Set.of("a0");
			party.member.formAgain(null);
			assertThat(party.endpoint.askAll(Set.of(), (_) -> Duration.ofSeconds(20)).values())
				.hasOnlyElementsOfType(Answer.Alive.class);
		}
		members.getFirst().endpoint.close();
		members.getLast().endpoint.close();
		last.form(0);
		lost.form(1);
		Awaitility.await().until(() -> last.member.requests().size() == 1);
		Thread.sleep(heartbeat.plusSeconds(1));
		lost.endpoint.close();
		lost.member.leave();
		Awaitility.await().until(() -> last.member.requests().isEmpty());
		List<Party> replacements = Stream.of(2, 3)
			.map((slot) -> party(ranks, settings, new Member(slot, "b" + slot, "host")))
			.toList();
		replacements.forEach((party) -> party.form(1));
		assertThat(last.formed.get().formation().slots()).containsExactly(1, 2, 3);
		assertThat(last.formed.get().origin()).isEqualTo(Origin.CONTINUED);
		for (Party party : replacements) {
			assertThat(party.formed.get().formation()).isEqualTo(last.formed.get().formation());
		}
	}

	@Test
	void aMemberAwaitsAProcessThatAnswersIfItMayNotContinueWithoutIt() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		Party joining = party(ranks, new Member(0, "b0", "host"));
		Party last = lastWithAcceptedFormation(ranks, joining);
		last.form(0);
		assertThat(last.awaits()).isTrue();
		joining.form(1);
		for (Party party : this.parties) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
		}
	}

	/** The process that joins has formed the generation, and lost the member then. */
	@Test
	void aMemberContinuesAfterAGenerationThatItHasAcceptedAndNotFormed() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		Party joining = party(ranks, new Member(0, "b0", "host"));
		Party last = party(ranks, new Member(1, "a1", "host"));
		Formation both = new Formation(2, "f2", List.of(joining.member.self(), last.member.self()));
		last.member.formed(new Formation(1, "f1", List.of(last.member.self())));
		last.member.formAgain(null);
		last.member.accept(both, "f1");
		joining.member.formed(both);
		joining.member.formAgain(null);
		joining.form(1);
		last.form(0);
		for (Party party : this.parties) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
		}
		assertThat(last.formed.get().origin()).as("it still holds the state").isEqualTo(Origin.CONTINUED);
	}

	@Test
	void aProcessIsLeftOutLongerEachTimeUntilItHasJoined() {
		LocalMember leader = new LocalMember(new Member(0, "a0", "host"));
		Member joining = new Member(1, "b1", "host");
		assertThat(leader.leaveOut(joining, Duration.ofMillis(10), LONGEST_PAUSE)).hasSeconds(1);
		assertThat(leader.leaveOut(joining, Duration.ofMillis(10), LONGEST_PAUSE)).hasSeconds(2);
		assertThat(leader.leaveOut(joining, Duration.ofSeconds(3), LONGEST_PAUSE)).hasSeconds(12);
		Member restarted = new Member(1, "c1", "host");
		assertThat(leader.leaveOut(restarted, Duration.ofMillis(10), LONGEST_PAUSE)).as("the next process of the slot")
			.hasSeconds(24);
		leader.formed(new Formation(1, "f1", List.of(leader.self())));
		assertThat(leader.leaveOut(restarted, Duration.ofMillis(10), LONGEST_PAUSE)).as("still outside").hasSeconds(48);
		assertThat(leader.leaveOut(restarted, Duration.ofMillis(10), Duration.ofSeconds(60))).hasSeconds(60);
		leader.formed(new Formation(2, "f2", List.of(leader.self(), restarted)));
		assertThat(leader.leaveOut(joining, Duration.ofMillis(10), LONGEST_PAUSE)).hasSeconds(1);
	}

	@Test
	void aProcessThatReachesOnlyAnotherRankThanTheFirstDoesNotDisturbTheGroup() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1, Duration.ofSeconds(3));
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(2, "a2", "host"));
		for (Member each : members) {
			party(ranks, each).member.formed(new Formation(0, "f0", members));
		}
		Party joining = party(ranks, new Member(1, "b1", "host"));
		joining.seesFirst = false;
		joining.form(0);
		assertThat(joining.awaits()).isTrue();
		assertThatThrownBy(joining.formed::get).isInstanceOf(ExecutionException.class)
			.cause()
			.isInstanceOf(RendezvousException.class)
			.hasMessageContaining("awaited ranks: [0]");
		assertThat(this.parties.get(1).member.requests()).isEmpty();
	}

	@Test
	void aLeaderGivesUpAMemberThatHasAcceptedAndDoesNotJoin() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1, Duration.ofSeconds(12));
		List<Party> members = twoMembers(ranks, ranks.settings());
		Party stopped = members.getLast();
		members.getFirst().form(1);
		try (FormationLink link = stopped.endpoint.connect(0, Duration.ofSeconds(5))) {
			link.send(stopped.member.join(Set.of()));
			link.send(new Accepted(receive(link, Propose.class).formation().id(), 29500));
			receive(link, Commit.class);
			stopped.endpoint.close();
			assertThat(members.getFirst().formed.get().formation().slots()).containsExactly(0);
		}
	}

	@Test
	void anAttemptThatLosesAMemberReportsNoRankAsStopped() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(1, "a1", "host"),
				new Member(2, "a2", "host"));
		for (Member each : members) {
			Party party = party(ranks, each);
			party.member.formed(new Formation(0, "f0", members));
			party.member.formAgain(null);
		}
		Party killed = this.parties.getLast();
		List<Party> living = List.copyOf(this.parties.subList(0, 2));
		try (FormationLink link = killed.endpoint.connect(0, Duration.ofSeconds(5))) {
			Set<Thread> before = Thread.getAllStackTraces().keySet();
			link.send(killed.member.join(Set.of()));
			living.forEach((party) -> party.form(0));
			link.send(new Accepted(receive(link, Propose.class).formation().id(), 29500));
			receive(link, Commit.class);
			Awaitility.await()
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.anyMatch((thread) -> thread.getName().equals("tutti-r1-control") && !before.contains(thread)));
			killed.endpoint.close();
		}
		for (Party party : living) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
			assertThat(party.withdrawn).isEmpty();
		}
	}

	@Test
	void aFailureBeforeTheAnnouncementOfAGenerationIsReportedAfterIt() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<Party> members = twoMembers(ranks, ranks.settings());
		members.forEach((party) -> party.form(0));
		Formed formed = members.getFirst().formed.get();
		members.getLast().formed.get().engine().world().abort(70, "a test");
		Awaitility.await().until(() -> formed.engine().world().failure() != null);
		List<Failure> failures = members.getFirst().failures;
		assertThat(failures).isEmpty();
		formed.announced().run();
		Awaitility.await().until(() -> failures.size() == 1);
		assertThat(failures.getFirst().kind()).isEqualTo(Failure.Kind.ABORTED);
	}

	@Test
	void aMemberGivesUpALeaderThatShowsNoSignOfLifeAfterTheCommit() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<Party> members = twoMembers(ranks, withHeartbeat(ranks.settings(), Duration.ofSeconds(3)));
		LocalMember leader = members.getFirst().member;
		members.getLast().form(0);
		Awaitility.await().until(() -> leader.requests().size() == 1);
		LocalMember.Request request = leader.requests().getFirst();
		Formation next = new Formation(1, "f1", List.of(leader.self(), members.getLast().member.self()));
		request.link().send(new Propose(next, "f0", false));
		Awaitility.await().until(() -> leader.allAccepted(List.of(request), "f1"));
		request.link().send(new Commit("f1", leader.port(request)));
		// Without the lock the endpoint sends no signs of life.
		synchronized (request.link()) {
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> leader.requests().stream().anyMatch((newer) -> newer != request));
		}
	}

	private static <T extends FormationMessage> T receive(FormationLink link, Class<T> type) throws IOException {
		while (true) {
			FormationMessage message = link.receive(() -> {
			});
			if (type.isInstance(message)) {
				return type.cast(message);
			}
		}
	}

	static EngineSettings withHeartbeat(EngineSettings all, Duration heartbeat) {
		Timeouts timeouts = all.timeouts();
		return new EngineSettings(all.backend(), all.jobId(), all.token(), all.generation(), null, null, null, 0,
				all.congestionControl(), all.sharedConfig(), new Timeouts(timeouts.rendezvous(), timeouts.collective(),
						heartbeat, Deadline.shorter(timeouts.abort(), heartbeat), timeouts.drain()),
				null);
	}

	@Test
	void aProcessThatWaitsForALeaderAsksLessAndLessOften() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1, Duration.ofSeconds(2));
		Party waiting = party(ranks, new Member(1, "b1", "host"));
		waiting.form(0);
		assertThatThrownBy(waiting.formed::get).cause().isInstanceOf(RendezvousException.class);
		assertThat(waiting.lookups).hasValueBetween(1, 14);
	}

	/** A formation appends its id to that of the job. */
	@Test
	void ranksOfTheLongestJobIdFormAGroup() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1, Duration.ofSeconds(10));
		EngineSettings longest = ranks.settings().withJob("x".repeat(EngineSettings.MAX_NAME_CHARACTERS), -1);
		int masterPort = FreePort.next();
		List<ElasticEngine> engines = Stream.of(0, 1)
			.map((rank) -> ElasticEngine.open(RankAssignment.onOneHost(rank, 2, masterPort), longest, ranks.elastic(),
					CollectiveListener.NONE))
			.toList();
		try {
			engines.stream()
				.map((engine) -> CompletableFuture.supplyAsync(() -> engine.form(null, false),
						Thread::startVirtualThread))
				.toList()
				.forEach((formed) -> assertThat(formed.join().world().worldSize()).isEqualTo(2));
		}
		finally {
			engines.forEach(ElasticEngine::close);
		}
	}

	@Test
	void aProcessWithAnotherTokenFailsForThatReason() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1, Duration.ofSeconds(2));
		party(ranks, new Member(0, "a0", "host"));
		EngineSettings all = ranks.settings();
		EngineSettings another = new EngineSettings(all.backend(), all.jobId(), "another", all.generation(), null, null,
				null, 0, all.congestionControl(), all.sharedConfig(), all.timeouts(), null);
		Party refused = party(ranks, another, new Member(1, "b1", "host"));
		refused.form(0);
		assertThatThrownBy(refused.formed::get).cause().isInstanceOfSatisfying(RendezvousException.class, (ex) -> {
			assertThat(ex.reason()).isEqualTo(RendezvousException.Reason.AUTHENTICATION);
			assertThat(ex).hasMessageContaining("the token is wrong or missing");
		});
	}

	/** Its own name may not resolve while the name service is out of order. */
	@Test
	void aMemberKnowsItsOwnAddressWithoutTheNameService() throws Exception {
		ElasticMembers ranks = new ElasticMembers(1, 1, 1);
		Endpoint own = new Endpoint("own", ranks.elastic().endpoints().getFirst().port());
		LocalMember member = new LocalMember(new Member(0, "a0", "host"));
		AtomicBoolean fails = new AtomicBoolean();
		try (FormationEndpoint endpoint = FormationEndpoint.open(member, ranks.settings(), List.of(own), (_) -> {
		}, (host) -> {
			if (fails.get()) {
				throw new UnknownHostException(host);
			}
			return new InetAddress[] { InetAddress.getLoopbackAddress() };
		})) {
			fails.set(true);
			assertThat(endpoint.host(member.self())).isEqualTo("127.0.0.1");
		}
	}

	/** As while the resources of the process are exhausted. */
	@Test
	void aMemberWithoutAFreePortTriesAgainUntilTheDeadline() throws Exception {
		ElasticMembers ranks = new ElasticMembers(1, 1, 1, Duration.ofSeconds(2));
		EngineSettings all = ranks.settings();
		EngineSettings foreign = new EngineSettings(all.backend(), all.jobId(), all.token(), all.generation(),
				"192.0.2.1", null, null, 0, all.congestionControl(), all.sharedConfig(), all.timeouts(), null);
		Party party = party(ranks, new Member(0, "a0", "host"));
		party.settings = foreign;
		party.form(0);
		assertThatThrownBy(party.formed::get).cause()
			.isInstanceOf(RendezvousException.class)
			.hasMessageContaining("the group did not form within 2 s")
			.hasMessageContaining("no port is free at 192.0.2.1");
	}

	@Test
	void aMemberThatHasLeftFormsNothing() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		Party leaving = party(ranks, new Member(1, "b1", "host"));
		leaving.form(0);
		assertThat(leaving.awaits()).isTrue();
		leaving.member.leave();
		assertThatThrownBy(leaving.formed::get).cause().isInstanceOf(IllegalStateException.class);
		assertThat(leaving.member.accept(new Formation(0, "f0", List.of(leaving.member.self())), null)).isFalse();
	}

	@Test
	void requestsToARankThatDoesNotLeadEndWhenItsGroupForms() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(2, "a2", "host"));
		Party last = party(ranks, members.getLast());
		Party joining = party(ranks, new Member(1, "b1", "host"));
		try (FormationLink link = joining.endpoint.connect(2, Duration.ofSeconds(5))) {
			link.send(joining.member.join(Set.of()));
			assertThat(link.receive(() -> {
			})).isInstanceOf(FormationMessage.Wait.class);
			last.member.formed(new Formation(0, "f0", members));
			assertThat(last.member.requests()).isEmpty();
		}
	}

	/**
	 * A process that joins with a lower slot than the leader's is rank 0 of the next
	 * generation. The leader still has to tell the others that it has joined.
	 */
	@Test
	void aLeaderThatHasJoinedKeepsTheConnectionsToTheMembersOfItsGroup() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		Party leader = party(ranks, new Member(1, "a1", "host"));
		Party joining = party(ranks, new Member(0, "b0", "host"));
		try (FormationLink link = joining.endpoint.connect(1, Duration.ofSeconds(5))) {
			link.send(joining.member.join(Set.of()));
			assertThat(link.receive(() -> {
			})).isInstanceOf(FormationMessage.Wait.class);
			List<LocalMember.Request> requests = leader.member.requests();
			leader.member.formed(new Formation(4, "f4", List.of(joining.member.self(), leader.member.self())));
			assertThat(leader.member.requests()).isEqualTo(requests).hasSize(1);
			assertThat(leader.member.anyLost(requests, "f4")).isFalse();
		}
	}

}
