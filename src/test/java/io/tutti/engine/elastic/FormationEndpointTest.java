package io.tutti.engine.elastic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.tutti.Failure;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.bootstrap.HandshakeException;
import io.tutti.engine.control.ControlMessage.FormationHello;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.elastic.FormationEndpoint.Answer;
import io.tutti.engine.elastic.FormationMessage.Accepted;
import io.tutti.engine.elastic.FormationMessage.AskStatus;
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
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Order(5)
@Timeout(60)
class FormationEndpointTest {

	private static final Duration LIMIT = Duration.ofSeconds(5);

	private static final Member ONE = new Member(1, "a1", "host");

	private static final Formation FIRST = new Formation(3, "f3", List.of(new Member(0, "a0", "host"), ONE));

	private static final Failure LOST = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "cut");

	private final List<String> warnings = new CopyOnWriteArrayList<>();

	private ElasticMembers ranks;

	private LocalMember member;

	private FormationEndpoint endpoint;

	@BeforeEach
	void open() throws Exception {
		this.ranks = new ElasticMembers(2, 2, 1);
		this.member = new LocalMember(new Member(0, "a0", "host"));
		this.endpoint = FormationEndpoint.open(this.member, this.ranks.settings(), this.ranks.elastic().endpoints(),
				this.warnings::add);
	}

	@AfterEach
	void close() {
		this.endpoint.close();
	}

	private static List<FormationMessage> messages() {
		return List.of(new AskStatus(null, null), new AskStatus("f3", LOST), new Status(ONE, Phase.RUNNING, FIRST),
				new Status(ONE, Phase.FORMING, null), new Join(ONE, FIRST, List.of(FIRST), 7, List.of("a0")),
				new Wait(), new Propose(FIRST, null, false), new Propose(FIRST, "f2", true), new Accepted("f3", 1),
				new Commit("f3", 65535), new Joined("f3"), new NoQuorum("because", List.of(2)));
	}

	@Test
	void everyMessageIsDecodedAsItWasEncoded() throws Exception {
		for (FormationMessage message : messages()) {
			ByteBuffer frame = FormationMessage.encode(message);
			assertThat(frame.getInt()).isEqualTo(frame.remaining());
			assertThat(FormationMessage.decode(frame)).isEqualTo(message);
		}
		assertThat(messages().stream().map(Object::getClass).distinct().count())
			.isEqualTo(FormationMessage.TYPES.size());
	}

	@Test
	void changedBytesAreAMessageOrMalformed() {
		Random random = new Random(7);
		for (int round = 0; round < 20_000; round++) {
			ByteBuffer frame = FormationMessage.encode(messages().get(random.nextInt(messages().size())));
			byte[] payload = new byte[frame.remaining() - Integer.BYTES];
			frame.get(Integer.BYTES, payload);
			for (int change = 0; change <= random.nextInt(4) && payload.length > 0; change++) {
				payload[random.nextInt(payload.length)] = (byte) random.nextInt();
			}
			int length = random.nextInt(payload.length + 1);
			try {
				FormationMessage.decode(ByteBuffer.wrap(payload, 0, random.nextBoolean() ? payload.length : length));
			}
			catch (MalformedFrameException ex) {
				assertThat(ex).hasMessageNotContaining("null");
			}
		}
	}

	@Test
	void membersOutOfOrderAreMalformed() {
		assertThatThrownBy(() -> new Formation(1, "f", List.of(ONE, ONE))).isInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void garbageFromClientsDoesNotDisturbTheMember() throws Exception {
		Random random = new Random(7);
		for (int client = 0; client < 50; client++) {
			try (Socket socket = new Socket()) {
				socket.connect(address());
				byte[] bytes = new byte[random.nextInt(2000)];
				random.nextBytes(bytes);
				socket.getOutputStream().write(bytes);
			}
			catch (IOException ex) {
				// The endpoint has closed the connection.
			}
		}
		try (FormationLink link = link("secret", "elastic-test")) {
			link.send(new AskStatus(null, null));
			assertThat(link.receive(HandshakeDeadline.within(LIMIT)))
				.isEqualTo(new Status(new Member(0, "a0", "host"), Phase.FORMING, null));
		}
	}

	@Test
	void anAuthenticatedClientThatSendsALongFrameLosesItsConnectionOnly() throws Exception {
		PeerSocket socket = socket("secret", "elastic-test");
		socket.write(ByteBuffer.allocate(Integer.BYTES).putInt(Integer.MAX_VALUE).flip());
		assertThatThrownBy(() -> new FormationLink(socket).receive(HandshakeDeadline.within(LIMIT)))
			.isInstanceOf(IOException.class)
			.hasMessageContaining("closed");
		assertThat(this.member.requests()).isEmpty();
	}

	@Test
	void aMessageThatArrivesTooSlowlyMissesItsDeadline() throws Exception {
		ByteBuffer frame = FormationMessage.encode(messages().getLast());
		try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
				SocketChannel slow = SocketChannel.open(server.getLocalAddress());
				FormationLink link = new FormationLink(new PeerSocket(server.accept()))) {
			Thread.ofVirtual().start(new FutureTask<>(() -> {
				while (frame.remaining() > 1) {
					slow.write(frame.slice(frame.position(), 1));
					frame.get();
					Thread.sleep(30);
				}
				return null;
			}));
			assertThatThrownBy(() -> link.receive(HandshakeDeadline.within(Duration.ofMillis(100))))
				.isInstanceOf(SocketTimeoutException.class);
			assertThat(frame.remaining()).isGreaterThan(1);
		}
	}

	@Test
	void aClientWithAnotherTokenOrJobIsRefused() {
		assertThatThrownBy(() -> socket("guess", "elastic-test")).isInstanceOf(HandshakeException.class)
			.hasMessageContaining("token");
		assertThatThrownBy(() -> socket("secret", "other")).isInstanceOf(HandshakeException.class)
			.hasMessageContaining("belongs to job elastic-test");
		assertThat(this.warnings).hasSize(2);
		assertThat(this.warnings).element(0)
			.asString()
			.startsWith("refused a client from /127.0.0.1:")
			.contains("token");
		assertThat(this.warnings).element(1)
			.asString()
			.startsWith("refused rank 1 from /127.0.0.1:")
			.contains("not other");
	}

	@Test
	void aWarningOfARefusedClientIsOneLineWithoutControlCharacters() {
		assertThatThrownBy(() -> socket("secret", "a\n\u001b[31mb\u2028c")).hasMessageContaining("not a [31mb c;");
		assertThat(this.warnings).singleElement().asString().contains("not a [31mb c;");
	}

	@Test
	void aMemberAcceptsOneFormationOfAGenerationAndOnlyOfItsBase() {
		Formation ours = new Formation(4, "x", List.of(new Member(0, "a0", "host"), ONE));
		Formation rival = new Formation(4, "y", List.of(new Member(0, "a0", "host")));
		Formation later = new Formation(5, "z", List.of(new Member(0, "a0", "host")));
		this.member.formed(FIRST);
		assertThat(this.member.accept(ours, "f3")).as("while its group runs").isFalse();
		this.member.enter(Phase.FORMING);
		assertThat(this.member.accept(ours, "f2")).as("of another base").isFalse();
		assertThat(this.member.accept(ours, "f3")).isTrue();
		assertThat(this.member.accept(rival, "f3")).as("twice").isFalse();
		assertThat(this.member.accept(later, "f3")).isTrue();
		assertThat(this.member.accept(FIRST, "f3")).as("an old one, delayed").isFalse();
		assertThat(this.member.accept(new Formation(9, "n", List.of(ONE)), "f3")).as("without it").isFalse();
	}

	@Test
	void aRequestToJoinDoesNotGrowWithTheNumberOfAttempts() {
		List<Member> members = IntStream.range(0, 1000)
			.mapToObj((slot) -> (slot == 0) ? this.member.self()
					: new Member(slot, FormationMessage.randomId(), "host".repeat(20)))
			.toList();
		this.member.formed(new Formation(0, "f0", members));
		this.member.formAgain(null);
		for (int generation = 1; generation < 500; generation++) {
			List<Member> left = members.subList(0, (generation < 250) ? 1000 : 999);
			assertThat(this.member.accept(new Formation(generation, "f" + generation, left), "f0")).isTrue();
		}
		Join request = this.member.join(Set.of());
		assertThat(request.accepted()).extracting(Formation::id).containsExactlyInAnyOrder("f249", "f499");
		assertThat(FormationMessage.encode(request).remaining()).isLessThan(FormationMessage.MAX_FRAME_BYTES);
	}

	@Test
	void aMessageThatIsTooLongIsNotSent() {
		List<Member> members = IntStream.range(0, 20_000)
			.mapToObj((slot) -> new Member(slot, FormationMessage.randomId(), "host".repeat(20)))
			.toList();
		Formation large = new Formation(0, "f0", members);
		assertThatThrownBy(() -> FormationMessage.encode(new Propose(large, null, false)))
			.isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("Propose")
			.hasMessageContaining("at most " + FormationMessage.MAX_FRAME_BYTES);
	}

	/** A member that waits gives up a leader that is silent for the heartbeat timeout. */
	@Test
	void aLeaderShowsThatItIsAliveSeveralTimesWithinTheHeartbeatTimeout() throws Exception {
		EngineSettings settings = FormationProtocolTest.withHeartbeat(this.ranks.settings(), Duration.ofMillis(400));
		this.endpoint.close();
		this.endpoint = FormationEndpoint.open(this.member, settings, this.ranks.elastic().endpoints(),
				this.warnings::add);
		try (FormationEndpoint joining = FormationEndpoint.open(new LocalMember(ONE), settings,
				this.ranks.elastic().endpoints(), this.warnings::add); FormationLink link = joining.connect(0, LIMIT)) {
			link.send(new Join(ONE, null, List.of(), -1, List.of()));
			long startNanos = System.nanoTime();
			for (int sign = 0; sign < 10; sign++) {
				assertThat(link.receive(HandshakeDeadline.within(LIMIT))).isInstanceOf(Wait.class);
			}
			assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(Duration.ofSeconds(4));
		}
	}

	@Test
	void aMemberThatHasLeftABrokenGenerationTellsTheOthersOfIt() throws Exception {
		LocalMember other = new LocalMember(ONE);
		List<Failure> told = new CopyOnWriteArrayList<>();
		this.member.whenLeft((formation, rank, failure) -> told.add(failure));
		try (FormationEndpoint asking = FormationEndpoint.open(other, this.ranks.settings(),
				this.ranks.elastic().endpoints(), this.warnings::add)) {
			asking.ask(0, LIMIT);
			other.formed(FIRST);
			other.formAgain(null);
			this.member.formed(FIRST);
			asking.ask(0, LIMIT);
			other.formAgain(LOST);
			this.member.enter(Phase.FORMING);
			asking.ask(0, LIMIT);
			this.member.formed(new Formation(4, "f4", FIRST.members()));
			asking.ask(0, LIMIT);
			this.member.formed(new Formation(3, "f3", List.of(this.member.self())));
			asking.ask(0, LIMIT);
			assertThat(told).as("where no failure broke the generation that runs here").isEmpty();
			this.member.formed(FIRST);
			asking.ask(0, LIMIT);
			Awaitility.await().atMost(LIMIT).until(() -> !told.isEmpty());
			assertThat(told).containsExactly(LOST.withDetail("cut; rank 1 has left the group because of it"));
		}
	}

	/** Some systems map a host's own name to 127.0.1.1. */
	@Test
	void aMemberListensAtAnAddressThatOtherHostsReachRatherThanAtLoopback() throws Exception {
		InetAddress reachable = NetworkInterface.networkInterfaces()
			.flatMap(NetworkInterface::inetAddresses)
			.filter((address) -> address instanceof Inet4Address && !address.isLoopbackAddress())
			.findFirst()
			.orElse(null);
		Assumptions.assumeTrue(reachable != null, "this host has only loopback addresses");
		InetAddress[] both = { InetAddress.ofLiteral("127.0.1.1"), reachable };
		try (FormationEndpoint _ = named((_) -> both); Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(reachable, this.ranks.elastic().endpoints().get(1).port()));
		}
		assertThat(this.warnings).isEmpty();
	}

	@Test
	void aMemberThatOtherHostsCannotReachWarns() {
		InetAddress[] loopback = { InetAddress.ofLiteral("127.0.1.1") };
		try (FormationEndpoint _ = named((_) -> loopback)) {
			assertThat(this.warnings).singleElement()
				.asString()
				.startsWith("rank 1 listens at node-7, which is 127.0.1.1");
		}
	}

	@Test
	void aMemberWaitsUntilItsNameIsKnown() {
		AtomicInteger lookups = new AtomicInteger();
		try (FormationEndpoint _ = named((host) -> {
			if (lookups.incrementAndGet() < 3) {
				throw new UnknownHostException(host);
			}
			return new InetAddress[] { InetAddress.getLoopbackAddress() };
		})) {
			assertThat(lookups).hasValue(3);
			assertThat(this.warnings).first().asString().startsWith("rank 1 resolves node-7:");
		}
	}

	@Test
	void aNameThatStaysUnknownMayBeKnownToTheNextProcess() throws Exception {
		this.ranks = new ElasticMembers(2, 2, 1, Duration.ofMillis(300));
		assertThatThrownBy(() -> named((host) -> {
			throw new UnknownHostException(host);
		})).isInstanceOfSatisfying(RendezvousException.class,
				(ex) -> assertThat(ex.reason()).isEqualTo(RendezvousException.Reason.TIMEOUT))
			.hasMessageContaining("node-7")
			.hasMessageContaining("the name is not known")
			.hasMessageContaining("tutti.elastic.endpoints");
	}

	/** The endpoint of slot 1 at a name. */
	private FormationEndpoint named(NameService names) {
		List<Endpoint> all = this.ranks.elastic().endpoints();
		return FormationEndpoint.open(new LocalMember(ONE), this.ranks.settings(),
				List.of(all.getFirst(), new Endpoint("node-7", all.get(1).port())), this.warnings::add, names);
	}

	@Test
	void aPortWithoutAnAnswerIsSilent() throws Exception {
		try (var _ = new ServerSocket(this.ranks.elastic().endpoints().get(1).port(), 1,
				InetAddress.getLoopbackAddress())) {
			assertThat(this.endpoint.ask(1, Duration.ofMillis(300))).isInstanceOf(Answer.Silent.class);
		}
	}

	@Test
	void aPortWithoutAProcessIsRefusedUntilItsMemberListens() throws Exception {
		assertThat(this.endpoint.ask(1, LIMIT)).isInstanceOf(Answer.Refused.class);
		try (ElasticEngine _ = this.ranks.engine(1)) {
			assertThat(this.endpoint.ask(1, LIMIT)).isInstanceOfSatisfying(Answer.Alive.class,
					(answer) -> assertThat(answer.status().member().slot()).isOne());
		}
	}

	@Test
	void aMemberThatHasLeftLeadsNobody() throws Exception {
		this.member.leave();
		try (FormationEndpoint other = FormationEndpoint.open(new LocalMember(ONE), this.ranks.settings(),
				this.ranks.elastic().endpoints(), this.warnings::add); FormationLink link = other.connect(0, LIMIT)) {
			link.send(new Join(ONE, FIRST, List.of(), 3, List.of()));
			assertThatThrownBy(() -> link.receive(HandshakeDeadline.within(LIMIT))).isInstanceOf(IOException.class)
				.hasMessageContaining("closed");
			assertThat(this.member.requests()).isEmpty();
		}
	}

	@Test
	void anotherProcessOfTheSlotOfALiveMemberIsRefusedUntilThatMemberHasEnded() throws Exception {
		this.member.formed(FIRST);
		int port = this.ranks.elastic().endpoints().get(1).port();
		try (FormationEndpoint _ = FormationEndpoint.open(new LocalMember(ONE), this.ranks.settings(),
				this.ranks.elastic().endpoints(), this.warnings::add)) {
			connect("a1").close();
			assertThatThrownBy(() -> connect("b1"))
				.isInstanceOfSatisfying(HandshakeException.class,
						(ex) -> assertThat(ex.reason()).isEqualTo(RendezvousException.Reason.DUPLICATE_RANK))
				.hasMessageContaining("another process already is rank 1");
			assertThat(this.warnings).singleElement().asString().startsWith("refused rank 1 from");
		}
		connect("b1").close();
		// A process that another test starts can hold the closed port for a moment.
		try (var _ = Awaitility.await()
			.ignoreException(BindException.class)
			.until(() -> new ServerSocket(port, 1, InetAddress.getLoopbackAddress()), Objects::nonNull)) {
			assertThat(this.endpoint.ask(1, Duration.ofMillis(300))).as("a stopped process")
				.isInstanceOf(Answer.Silent.class);
			connect("b1").close();
		}
	}

	private PeerSocket connect(String member) throws IOException {
		return Handshake.ofFormation("secret")
			.connect(address(), null, (local) -> new FormationHello("elastic-test", 1, member),
					HandshakeDeadline.within(LIMIT));
	}

	/** Such as one that was stopped, and resumes after it was replaced. */
	@Test
	void anotherProcessOfTheSlotOfAMemberCannotJoinIt() throws Exception {
		Member twin = new Member(0, "b0", "host");
		try (FormationLink link = new FormationLink(Handshake.ofFormation("secret")
			.connect(address(), null, (local) -> new FormationHello("elastic-test", 0, "b0"),
					HandshakeDeadline.within(LIMIT)))) {
			link.send(new Join(twin, FIRST, List.of(), 3, List.of()));
			assertThatThrownBy(() -> link.receive(HandshakeDeadline.within(LIMIT))).isInstanceOf(IOException.class)
				.hasMessageContaining("closed");
			assertThat(this.member.requests()).isEmpty();
		}
	}

	@Test
	void anEndpointThatEndsAConnectionWhileItClosesRefuses() throws Exception {
		ServerSocket closing = new ServerSocket(this.ranks.elastic().endpoints().get(1).port(), 1,
				InetAddress.getLoopbackAddress());
		Thread.startVirtualThread(() -> {
			try (closing; Socket _ = closing.accept()) {
				// Both are closed without an answer.
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
		assertThat(this.endpoint.ask(1, Duration.ofSeconds(2))).isInstanceOf(Answer.Refused.class);
	}

	@Test
	void aRefusedConnectionShowsTheEndOfAMemberOnlyWhereThatMemberWasReached() throws Exception {
		Answer refused = this.endpoint.ask(1, LIMIT);
		assertThat(refused).isInstanceOf(Answer.Refused.class);
		assertThat(this.endpoint.hasEnded(ONE, refused)).as("before it was reached").isFalse();
		Member first;
		try (ElasticEngine _ = this.ranks.engine(1)) {
			first = ((Answer.Alive) this.endpoint.ask(1, LIMIT)).status().member();
		}
		Answer gone = this.endpoint.ask(1, LIMIT);
		assertThat(this.endpoint.hasEnded(first, gone)).isTrue();
		assertThat(this.endpoint.hasEnded(ONE, gone)).as("another process of the slot").isFalse();
		assertThat(this.endpoint.hasEnded(first, new Answer.Refused(Set.of(InetAddress.getByName("127.0.0.2")))))
			.as("the name leads to another host")
			.isFalse();
		assertThat(this.endpoint.hasEnded(first, new Answer.Silent())).isFalse();
		Answer other = new Answer.Alive(new Status(ONE, Phase.FORMING, null));
		assertThat(this.endpoint.hasEnded(first, other)).as("its successor answers").isTrue();
		try (ElasticEngine _ = this.ranks.engine(1)) {
			this.endpoint.ask(1, LIMIT);
		}
		assertThat(this.endpoint.hasEnded(first, this.endpoint.ask(1, LIMIT))).as("its successor has ended").isTrue();
	}

	/** After a replacement the name of slot 1 leads to a host where nothing listens. */
	@Test
	void aMemberIsAskedWhereItWasReachedAlthoughItsNameLeadsElsewhere() throws Exception {
		AtomicReference<String> address = new AtomicReference<>("127.0.0.1");
		this.endpoint.close();
		this.endpoint = FormationEndpoint.open(this.member, this.ranks.settings(), this.ranks.elastic().endpoints(),
				this.warnings::add, (host) -> InetAddress.getAllByName(address.get()));
		try (ElasticEngine _ = this.ranks.engine(1)) {
			address.set("127.0.0.9");
			assertThat(this.endpoint.hasEnded(ONE, this.endpoint.ask(1, LIMIT))).isFalse();
			address.set("127.0.0.1");
			Member alive = ((Answer.Alive) this.endpoint.ask(1, LIMIT)).status().member();
			address.set("127.0.0.9");
			assertThat(this.endpoint.ask(1, LIMIT)).isInstanceOf(Answer.Alive.class);
			assertThat(this.endpoint.host(alive)).isEqualTo("127.0.0.1");
			this.endpoint.connect(1, LIMIT).close();
		}
	}

	@Test
	@Timeout(20)
	void aMemberIsAskedWhereItWasReachedAlthoughNoNameServerAnswers() throws Exception {
		CountDownLatch never = new CountDownLatch(1);
		AtomicBoolean silent = new AtomicBoolean();
		this.endpoint.close();
		this.endpoint = FormationEndpoint.open(this.member, this.ranks.settings(), this.ranks.elastic().endpoints(),
				this.warnings::add, (host) -> silent.get() ? answer(never) : InetAddress.getAllByName("127.0.0.1"));
		Member alive;
		try (ElasticEngine _ = this.ranks.engine(1)) {
			alive = ((Answer.Alive) this.endpoint.ask(1, LIMIT)).status().member();
			silent.set(true);
			assertThat(this.endpoint.ask(1, LIMIT)).isInstanceOf(Answer.Alive.class);
			this.endpoint.connect(1, LIMIT).close();
		}
		assertThat(this.endpoint.hasEnded(alive, this.endpoint.ask(1, Duration.ofMillis(300)))).isTrue();
		never.countDown();
	}

	private static InetAddress[] answer(CountDownLatch late) throws UnknownHostException {
		try {
			late.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new UnknownHostException();
	}

	@Test
	void theMembersOfAFormationAreAskedUntilTheyHaveAnswered() throws Exception {
		try (ElasticEngine engine = this.ranks.engine(1)) {
			Member other = ((Answer.Alive) this.endpoint.ask(1, LIMIT)).status().member();
			this.endpoint.close();
			AtomicReference<String> address = new AtomicReference<>("127.0.0.9");
			CountDownLatch asked = new CountDownLatch(2);
			this.endpoint = FormationEndpoint.open(this.member, this.ranks.settings(), this.ranks.elastic().endpoints(),
					this.warnings::add, (host) -> {
						asked.countDown();
						return InetAddress.getAllByName(address.get());
					});
			Formation formation = new Formation(4, "f4", List.of(this.member.self(), other));
			this.member.formed(formation);
			this.endpoint.learnAddresses(formation, LIMIT);
			assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
			address.set("127.0.0.1");
			while (!this.endpoint.host(other).equals("127.0.0.1") || asked.getCount() > 0) {
				Thread.onSpinWait();
			}
			assertThat(engine.joinersWait()).isFalse();
		}
	}

	/**
	 * The endpoint shows a waiting member twice a second that it is alive, which fails
	 * when the member has closed the connection. The message before is still to be read.
	 */
	@Test
	void theLastMessageOfAMemberThatHasClosedItsConnectionCounts() throws Exception {
		for (int attempt = 0; attempt < 4; attempt++) {
			PeerSocket socket = socket("secret", "elastic-test");
			socket.socket().setOption(StandardSocketOptions.SO_LINGER, 0);
			LocalMember.Request request;
			try (FormationLink link = new FormationLink(socket)) {
				link.send(new Join(ONE, FIRST, List.of(), 3, List.of()));
				link.receive(HandshakeDeadline.within(LIMIT));
				request = this.member.requests().getFirst();
				link.receive(HandshakeDeadline.within(LIMIT));
				// Just before the endpoint sends the next sign of life.
				Thread.sleep(485);
				link.send(new Joined("f3"));
			}
			Awaitility.await().atMost(LIMIT).until(() -> this.member.requests().isEmpty());
			assertThat(this.member.anyLost(List.of(request), "f3")).isFalse();
		}
	}

	private InetSocketAddress address() {
		return new InetSocketAddress("127.0.0.1", this.ranks.elastic().endpoints().getFirst().port());
	}

	private PeerSocket socket(String token, String job) throws IOException {
		return Handshake.ofFormation(token)
			.connect(address(), null, (local) -> new FormationHello(job, 1, "a1"), HandshakeDeadline.within(LIMIT));
	}

	private FormationLink link(String token, String job) throws IOException {
		return new FormationLink(socket(token, job));
	}

}
