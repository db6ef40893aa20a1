package io.tutti.service.http;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupJoiner;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients at the prober's own address that hold as many connections as possible.
 */
@Timeout(120)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "tutti.rank=1", "tutti.world-size=3", "server.tomcat.max-connections=100",
				"server.tomcat.connection-timeout=2s", "server.servlet.context-path=/ranks",
				"spring.mvc.servlet.path=/rest", "management.endpoints.web.base-path=/watch/",
				"management.endpoints.web.path-mapping.health=alive" })
@Import(HttpLimitsTest.Formed.class)
class HttpLimitsTest {

	private static final int LIMIT = 100;

	private static final int SERVED = 75;

	private static final int ANSWER_MILLIS = 10_000;

	private static final String LIVENESS = "GET /ranks/rest/watch/alive/liveness HTTP/1.1\r\nHost: any.example\r\n"
			+ "Connection: close\r\n\r\n";

	private static final String BARRIER = "POST /ranks/rest/api/v1/barrier HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
			+ "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"label\":\"x\"}";

	@TestConfiguration
	static class Formed {

		@Bean
		FakeGroup fakeGroup() {
			return new FakeGroup(1, 3, 4);
		}

		@Bean
		@Primary
		GroupJoiner fakeMeeting(FakeGroup group) {
			return FakeJoiner.of(group);
		}

	}

	@Autowired
	private FakeGroup group;

	@LocalServerPort
	private int port;

	@Test
	void aSlowHeaderTimesOut() throws Exception {
		List<SocketChannel> slow = new ArrayList<>();
		try {
			for (int client = 0; client < LIMIT / 2; client++) {
				SocketChannel channel = SocketChannel.open(address());
				channel.write(ByteBuffer.wrap("GET / HTTP/1.1\r\nX: ".getBytes(StandardCharsets.US_ASCII)));
				channel.configureBlocking(false);
				slow.add(channel);
			}
			Awaitility.await()
				.atMost(Duration.ofSeconds(20))
				.pollInterval(Duration.ofMillis(100))
				.until(() -> dribble(slow).isEmpty());
		}
		finally {
			closeAll(slow);
		}
	}

	@Test
	void livenessAnswersDuringARepeatedFloodOfSlowConnections() throws Exception {
		AtomicBoolean over = new AtomicBoolean();
		AtomicInteger opened = new AtomicInteger();
		Thread attack = Thread.ofPlatform().start(() -> attack(over, opened));
		try {
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> opened.get() > 3 * LIMIT);
			for (int probe = 0; probe < 30; probe++) {
				assertThat(ask(LIVENESS)).startsWith("HTTP/1.1 200");
			}
			assertThat(attack.isAlive()).isTrue();
		}
		finally {
			over.set(true);
			attack.join();
		}
	}

	/**
	 * Holds five times the limit of connections, sends a byte on each at intervals, and
	 * reopens closed ones.
	 */
	private void attack(AtomicBoolean over, AtomicInteger opened) {
		List<SocketChannel> slow = new ArrayList<>();
		try {
			while (!over.get()) {
				for (int added = 0; added < LIMIT / 4 && slow.size() < 5 * LIMIT; added++) {
					SocketChannel channel = SocketChannel.open();
					channel.configureBlocking(false);
					channel.connect(address());
					slow.add(channel);
					opened.incrementAndGet();
				}
				dribble(slow);
				LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			closeAll(slow);
		}
	}

	@Test
	void waitingRequestsLeaveRoomForProbesAndFurtherRequestsAreToldToRetry() throws Exception {
		CountDownLatch go = new CountDownLatch(1);
		AtomicInteger waiting = new AtomicInteger();
		this.group.onBarrier((label, timeout) -> {
			waiting.incrementAndGet();
			await(go);
			return new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0, List.of(0L, 0L, 0L), List.of());
		});
		List<Socket> clients = new ArrayList<>();
		try {
			for (int client = 0; client < SERVED; client++) {
				Socket socket = open();
				clients.add(socket);
				socket.getOutputStream().write(BARRIER.getBytes(StandardCharsets.US_ASCII));
			}
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> waiting.get() == SERVED);
			for (int extra = 0; extra < LIMIT; extra++) {
				Socket silent = open();
				clients.add(silent);
			}
			String refused = ask(BARRIER);
			assertThat(refused).startsWith("HTTP/1.1 503").contains("Retry-After: 5", "urn:tutti:problem:overloaded");
			assertThat(ask(LIVENESS)).startsWith("HTTP/1.1 200");
			go.countDown();
			for (Socket client : clients.subList(0, SERVED)) {
				String answer = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
				assertThat(answer).as("a request that is served is not cut off").startsWith("HTTP/1.1 200");
			}
			Awaitility.await()
				.atMost(Duration.ofSeconds(20))
				.untilAsserted(() -> assertThat(ask(BARRIER)).startsWith("HTTP/1.1 200"));
		}
		finally {
			go.countDown();
			closeAll(clients);
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Sends a byte that ends no header on each, and drops connections that are closed.
	 */
	private static List<SocketChannel> dribble(List<SocketChannel> channels) {
		channels.removeIf((channel) -> {
			try {
				if (!channel.finishConnect()) {
					return false;
				}
				channel.write(ByteBuffer.wrap(new byte[] { 'x' }));
				if (channel.read(ByteBuffer.allocate(1)) >= 0) {
					return false;
				}
			}
			catch (IOException ex) {
				// The connection is reset if a byte was left unread.
			}
			closeAll(List.of(channel));
			return true;
		});
		return channels;
	}

	private String ask(String request) throws IOException {
		try (Socket socket = new Socket()) {
			socket.connect(address(), ANSWER_MILLIS);
			socket.setSoTimeout(ANSWER_MILLIS);
			socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private Socket open() throws IOException {
		return new Socket(InetAddress.getLoopbackAddress(), this.port);
	}

	private InetSocketAddress address() {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port);
	}

	private static void closeAll(List<? extends Closeable> connections) {
		for (Closeable connection : connections) {
			try {
				connection.close();
			}
			catch (IOException ex) {
				// Already closed.
			}
		}
	}

}
