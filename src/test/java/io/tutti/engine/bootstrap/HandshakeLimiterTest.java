package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class HandshakeLimiterTest {

	private static final int LIMIT = 3;

	private final HandshakeLimiter limiter = new HandshakeLimiter(LIMIT, Duration.ofMillis(200));

	private final List<SocketChannel> clients = new ArrayList<>();

	private ServerSocketChannel server;

	@BeforeEach
	void open() throws IOException {
		this.server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
	}

	@AfterEach
	void close() throws IOException {
		this.limiter.close();
		this.server.close();
		for (SocketChannel client : this.clients) {
			client.close();
		}
	}

	@Test
	void theBusiestAddressLosesItsOldestConnection() throws Exception {
		SocketChannel rank = accept("127.0.0.1");
		SocketChannel oldest = accept("127.0.0.2");
		SocketChannel latest = accept("127.0.0.2");
		this.limiter.awaitRoom();
		assertThat(oldest.isOpen()).isFalse();
		assertThat(rank.isOpen()).isTrue();
		assertThat(latest.isOpen()).isTrue();
	}

	@Test
	void aConnectionKeepsItsPlaceForTheTimeThatARankNeeds() throws Exception {
		long startNanos = System.nanoTime();
		for (int i = 0; i < LIMIT; i++) {
			accept("127.0.0.1");
		}
		this.limiter.awaitRoom();
		assertThat(System.nanoTime() - startNanos).isGreaterThan(Duration.ofMillis(9).toNanos());
	}

	@Test
	void aConnectionThatAuthenticatesMakesRoom() throws Exception {
		HandshakeLimiter patient = new HandshakeLimiter(1, Duration.ofHours(1));
		SocketChannel channel = accept("127.0.0.1");
		patient.add(channel);
		Thread.startVirtualThread(() -> patient.remove(channel));
		patient.awaitRoom();
		assertThat(channel.isOpen()).isTrue();
	}

	@Test
	void aConnectionThatWasClosedIsNoLongerPending() throws Exception {
		SocketChannel channel = accept("127.0.0.1");
		this.limiter.closeOldest();
		assertThat(channel.isOpen()).isFalse();
		assertThat(this.limiter.remove(channel)).isFalse();
	}

	@Test
	void aConnectionThatComesAfterTheCloseIsClosed() throws Exception {
		this.limiter.close();
		assertThat(accept("127.0.0.1").isOpen()).isFalse();
	}

	private SocketChannel accept(String from) throws IOException {
		SocketChannel client = SocketChannel.open();
		this.clients.add(client);
		client.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
		client.connect(this.server.getLocalAddress());
		SocketChannel accepted = this.server.accept();
		this.limiter.add(accepted);
		return accepted;
	}

}
