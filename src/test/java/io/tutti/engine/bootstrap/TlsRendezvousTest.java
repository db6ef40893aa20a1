package io.tutti.engine.bootstrap;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import javax.net.ssl.SSLContext;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.tls.Authority;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import io.tutti.engine.tls.Tls;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class TlsRendezvousTest {

	private static final Authority OURS = Authority.named("CN=ours");

	private static final Authority IMPOSTOR = Authority.named("CN=ours");

	private static final RendezvousSettings GOOD = with("secret", OURS.tls(OURS.rank()));

	private static final RendezvousSettings PLAIN = with("secret", null);

	private static RendezvousSettings with(String token, Tls tls) {
		return new RendezvousSettings("job", token, -1, null, null, 7000, Duration.ofSeconds(30),
				Duration.ofMillis(500), "", tls);
	}

	@Test
	void theControlPlaneCarriesLongMessagesOverTls() {
		try (TestWorld world = TestWorld.met(3, GOOD)) {
			String label = "x".repeat(100);
			List<CompletableFuture<BarrierOutcome>> barriers = new ArrayList<>();
			for (int rank = 0; rank < 3; rank++) {
				barriers.add(barrier(world, rank, label));
			}
			assertThat(barriers).allSatisfy(
					(barrier) -> assertThat(TestWorld.join(barrier).result()).isEqualTo(BarrierOutcome.Result.PASSED));
		}
	}

	/**
	 * Both may lie in one TLS record, which the rank takes from its socket during the
	 * handshake.
	 */
	@Test
	void aRosterThatArrivesWithTheWelcomeIsReadWithoutAnotherMessage() throws Exception {
		InetAddress host = InetAddress.getLoopbackAddress();
		List<PeerAddress> roster = List.of(new PeerAddress(0, "127.0.0.1", 7000, "host"),
				new PeerAddress(1, "127.0.0.1", 7000, "host"));
		try (TestWorld world = new TestWorld(2); ServerSocketChannel listener = ServerSocketChannel.open()) {
			listener.bind(new InetSocketAddress(host, world.port));
			CompletableFuture<Membership> joining = world.joining(1, GOOD);
			HandshakeDeadline deadline = HandshakeDeadline.within(Duration.ofSeconds(20));
			try (PeerSocket socket = PeerSocket.accept(listener.accept(), GOOD.tls(), deadline,
					(problem) -> ByteBuffer.allocate(0))) {
				ByteBuffer welcome = MessageCodec
					.encode(Handshake.ofControl("secret").accept(socket, deadline).welcome());
				ByteBuffer complete = MessageCodec.encode(new Roster(0, new byte[32], "", roster));
				Handshake.write(socket,
						ByteBuffer.allocate(welcome.remaining() + complete.remaining())
							.put(welcome)
							.put(complete)
							.flip(),
						deadline);
				world.members.put(1, TestWorld.join(joining));
			}
		}
	}

	/** Its kernel ends the connection without a TLS close. */
	@Test
	void aRankThatIsKilledCountsAsDead() throws Exception {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, GOOD);
		dial(world).close();
		PeerSocket killed = Handshake.ofControl("secret")
			.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), world.port), GOOD.tls(),
					(local) -> RawRank.hello(1, 2), HandshakeDeadline.within(Duration.ofSeconds(20)));
		try (world) {
			world.members.put(0, TestWorld.join(zero));
			killed.socket().shutdownOutput();
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !world.events.get(0).failures.isEmpty());
			assertThat(world.events.get(0).closedByKernel).containsExactly(1);
		}
		killed.close();
	}

	@Test
	void theTokenIsAlsoRequiredWithTls() {
		refusedWhileTheOthersMeet(GOOD, with("guess", OURS.tls(OURS.rank())), "the token is wrong", "token");
	}

	@Test
	void aRankWithoutACertificateIsRejected() {
		refusedWhileTheOthersMeet(GOOD, with("secret", OURS.tls()), "did not accept this rank's certificate",
				"Empty client certificate chain");
	}

	@Test
	void aRankOfAnotherAuthorityIsRejected() {
		SSLContext stranger = OURS.context(IMPOSTOR.rank());
		refusedWhileTheOthersMeet(GOOD, with("secret", new Tls(() -> stranger, List.of(), Authority.NAME)),
				"did not accept this rank's certificate", "its certificate is not trusted");
	}

	@Test
	void aRankWithAnExpiredCertificateIsRejected() {
		refusedWhileTheOthersMeet(GOOD,
				with("secret", OURS.tls(OURS.issue(Duration.ofHours(-1), List.of(Authority.NAME)))),
				"did not accept this rank's certificate", "it has expired");
	}

	@Test
	void aRankWithAnotherNameIsRejectedWithBothNames() {
		refusedWhileTheOthersMeet(GOOD, with("secret", OURS.tls(OURS.issue(Duration.ofDays(1), List.of("other.test")))),
				"carries the DNS names other.test and not ranks.test", "other.test and not ranks.test");
	}

	@Test
	void aRankWithoutTlsIsRejected() {
		refusedWhileTheOthersMeet(GOOD, PLAIN, "it does not speak TLS, which this job requires",
				"it does not speak TLS");
	}

	@Test
	void aRankWithTlsIsRejectedByRankZeroWithout() {
		refusedWhileTheOthersMeet(PLAIN, GOOD, "does not speak TLS, and this rank does", "it speaks TLS");
	}

	@Test
	void aRankDoesNotJoinAnUntrustedRankZero() {
		TestWorld world = new TestWorld(2);
		SSLContext stranger = OURS.context(IMPOSTOR.rank());
		CompletableFuture<Membership> zero = world.joining(0,
				with("secret", new Tls(() -> stranger, List.of(), Authority.NAME)), Duration.ofSeconds(2));
		RendezvousException refused = TestWorld.refusal(world.joining(1, GOOD));
		assertThat(refused.reason()).isEqualTo(Reason.AUTHENTICATION);
		assertThat(refused).hasMessageContaining("is not trusted: its certificate");
		assertThat(TestWorld.refusal(zero).missingRanks()).containsExactly(1);
	}

	@Test
	void silentAndHostileClientsDoNotDelayRendezvous() throws Exception {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, GOOD);
		List<Socket> strangers = new ArrayList<>();
		for (int i = 0; i < 700; i++) {
			strangers.add(dial(world));
			if (i % 3 == 0) {
				strangers.get(i).getOutputStream().write(new byte[] { 22, 3, 1, 1 });
			}
		}
		try (world) {
			world.members.put(1, TestWorld.join(world.joining(1, GOOD)));
			world.members.put(0, TestWorld.join(zero));
		}
		for (Socket stranger : strangers) {
			stranger.close();
		}
	}

	@Test
	void anHttpClientGetsAReasonAndIsDisconnected() throws Exception {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, GOOD);
		try (Socket stranger = dial(world)) {
			stranger.setSoTimeout(10_000);
			stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
			String told = new String(stranger.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(told).contains("does not speak TLS").doesNotContain("secret");
		}
		try (world) {
			world.members.put(1, TestWorld.join(world.joining(1, GOOD)));
			world.members.put(0, TestWorld.join(zero));
		}
	}

	@Test
	void aRenewedCertificateServesNewConnectionsAndOldOnesStayOpen() {
		AtomicReference<SSLContext> context = new AtomicReference<>(OURS.context(OURS.rank()));
		RendezvousSettings renewing = with("secret", new Tls(context::get, List.of(), Authority.NAME));
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, renewing);
		world.members.put(1, TestWorld.join(world.joining(1, GOOD)));
		world.members.put(0, TestWorld.join(zero));
		try (world) {
			context.set(OURS.context(OURS.issue(Duration.ofHours(-1), List.of(Authority.NAME))));
			assertThat(TestWorld.refusal(world.joining(1, GOOD))).hasMessageContaining("it has expired");
			CompletableFuture<BarrierOutcome> other = barrier(world, 1, "still");
			assertThat(world.control(0).barrier("still", Duration.ofSeconds(20)).result())
				.isEqualTo(BarrierOutcome.Result.PASSED);
			TestWorld.join(other);
			context.set(OURS.context(OURS.rank()));
			assertThat(TestWorld.refusal(world.joining(1, GOOD)).reason()).isEqualTo(Reason.DUPLICATE_RANK);
		}
	}

	/**
	 * Runs on its own thread, since a shared pool may have fewer threads than ranks.
	 */
	private static CompletableFuture<BarrierOutcome> barrier(TestWorld world, int rank, String label) {
		return CompletableFuture.supplyAsync(() -> world.control(rank).barrier(label, Duration.ofSeconds(20)),
				(wait) -> Thread.ofVirtual().start(wait));
	}

	private static Socket dial(TestWorld world) throws Exception {
		long start = System.nanoTime();
		while (true) {
			try {
				return new Socket(InetAddress.getLoopbackAddress(), world.port);
			}
			catch (ConnectException ex) {
				if (System.nanoTime() - start > Duration.ofSeconds(20).toNanos()) {
					throw ex;
				}
				Thread.onSpinWait();
			}
		}
	}

	private static void refusedWhileTheOthersMeet(RendezvousSettings right, RendezvousSettings wrong, String told,
			String warned) {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, right);
		RendezvousException refused = TestWorld.refusal(world.joining(1, wrong));
		assertThat(refused.reason()).isEqualTo(Reason.AUTHENTICATION);
		assertThat(refused).hasMessageContaining("rank 1").hasMessageContaining(told);
		assertThat(refused.getMessage()).doesNotContain("secret").doesNotContain("guess");
		try (world) {
			world.members.put(1, TestWorld.join(world.joining(1, right)));
			world.members.put(0, TestWorld.join(zero));
			assertThat(world.events.get(0).warnings).singleElement().asString().contains(warned);
		}
	}

}
