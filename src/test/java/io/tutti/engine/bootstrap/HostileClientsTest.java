package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.tutti.OwnThread;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.spi.Deadline;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Clients at the rendezvous address that are not ranks. */
@Order(5)
@Timeout(60)
class HostileClientsTest {

	private final TestWorld world = new TestWorld(3);

	private final CompletableFuture<Membership> zero = this.world.joining(0, TestWorld.SETTINGS);

	@Test
	void aClientThatSendsGarbageIsDisconnected() {
		byte[] noise = new byte[10_000];
		new Random(1).nextBytes(noise);
		noise[0] = 1;
		try (RawRank http = new RawRank(this.world.port);
				RawRank tls = new RawRank(this.world.port);
				RawRank random = new RawRank(this.world.port)) {
			http.send("GET / HTTP/1.1\r\nHost: tutti\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
			tls.send(new byte[] { 0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, (byte) 0xfc, 0x03, 0x03 });
			random.send(noise);
			assertThat(http.isHungUpOn()).isTrue();
			assertThat(tls.isHungUpOn()).isTrue();
			assertThat(random.isHungUpOn()).isTrue();
			assertTheRanksMeet();
		}
		assertThat(this.world.events.get(0).warnings).hasSize(3)
			.anyMatch((text) -> text.contains("it speaks HTTP, and this port is for ranks"))
			.anyMatch((text) -> text.contains("it speaks TLS, which this job does not use"))
			.anyMatch((text) -> text.contains("1..4096"));
	}

	@Test
	void aClientThatSendsMessagesOutOfOrderIsDisconnected() {
		try (RawRank early = new RawRank(this.world.port); RawRank twice = new RawRank(this.world.port)) {
			early.send(new Ping(1));
			assertThat(early.isHungUpOn()).isTrue();
			twice.send(RawRank.hello(1, 3));
			twice.send(RawRank.hello(1, 3));
			assertThat(twice.isHungUpOn()).isTrue();
			assertTheRanksMeet();
		}
	}

	@Test
	void aClientThatSendsFramesOfInvalidLengthIsDisconnected() {
		for (int length : new int[] { 0, -1, 4097, Integer.MAX_VALUE, Integer.MIN_VALUE }) {
			try (RawRank raw = new RawRank(this.world.port)) {
				raw.send(ByteBuffer.allocate(4).putInt(length).array());
				assertThat(raw.isHungUpOn()).as("a frame of %d bytes", length).isTrue();
			}
		}
		assertTheRanksMeet();
	}

	@Test
	void anotherProtocolVersionIsRejectedWithAReason() {
		try (RawRank raw = new RawRank(this.world.port)) {
			raw.send(new ForeignHello(99));
			Refused refused = raw.await(Refused.class);
			assertThat(refused.reason()).isEqualTo(Reason.PROTOCOL);
			assertThat(refused.message()).contains("version " + MessageCodec.VERSION).contains("99");
			assertThat(raw.isHungUpOn()).isTrue();
			assertTheRanksMeet();
		}
	}

	@Test
	void aRankOutOfRangeIsRejected() {
		try (RawRank raw = new RawRank(this.world.port)) {
			assertThatThrownBy(() -> raw.join(3, 3)).hasMessageContaining("0..2").hasMessageContaining("3");
			assertThat(raw.isHungUpOn()).isTrue();
			assertTheRanksMeet();
		}
	}

	@Test
	void silentAndSlowClientsDoNotDelayRendezvous() throws IOException {
		List<RawRank> silent = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			silent.add(new RawRank(this.world.port));
		}
		silent.getFirst().send(new byte[] { 0, 0 });
		assertTheRanksMeet();
		for (RawRank raw : silent) {
			raw.close();
		}
	}

	/**
	 * {@link ConnectionAcceptorTest} shows that it is not the time limit that ends the
	 * first.
	 */
	@Test
	void theOldestPendingClientIsDisconnectedWhenThereAreTooMany() {
		List<RawRank> silent = new ArrayList<>();
		for (int i = 0; i < 600; i++) {
			silent.add(new RawRank(this.world.port));
		}
		assertThat(silent.getFirst().isHungUpOn()).isTrue();
		assertTheRanksMeet();
		silent.forEach(RawRank::close);
	}

	@Test
	void aSlowClientIsDisconnected() {
		assertThat(ConnectionAcceptor.HANDSHAKE_LIMIT).isEqualTo(Duration.ofSeconds(10));
		long start = System.nanoTime();
		try (RawRank slow = new RawRank(this.world.port)) {
			assertThat(slow.isHungUpOn()).isTrue();
			assertThat(Duration.ofNanos(System.nanoTime() - start))
				.isGreaterThanOrEqualTo(ConnectionAcceptor.HANDSHAKE_LIMIT);
		}
		assertTheRanksMeet();
	}

	@Test
	void aRankReportsAPeerThatIsNotRankZero() throws IOException {
		try (ServerSocket stranger = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
			CompletableFuture<Membership> joining = CompletableFuture
				.supplyAsync(
						() -> Rendezvous.join(RankAssignment.onOneHost(1, 2, stranger.getLocalPort()),
								TestWorld.SETTINGS, new RecordedControlEvents(), Deadline.after(TestWorld.WAIT_LIMIT)),
						OwnThread.EXECUTOR);
			try (Socket socket = stranger.accept(); OutputStream out = socket.getOutputStream()) {
				out.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
				RendezvousException ex = TestWorld.refusal(joining);
				assertThat(ex.reason()).isEqualTo(Reason.PROTOCOL);
				assertThat(ex).hasMessageContaining("not this job's rank 0").hasMessageContaining("MASTER_PORT");
			}
		}
		assertTheRanksMeet();
	}

	private void assertTheRanksMeet() {
		CompletableFuture<Membership> one = this.world.joining(1, TestWorld.SETTINGS);
		CompletableFuture<Membership> two = this.world.joining(2, TestWorld.SETTINGS);
		this.world.members.put(0, TestWorld.join(this.zero));
		this.world.members.put(1, TestWorld.join(one));
		this.world.members.put(2, TestWorld.join(two));
		this.world.close();
	}

}
