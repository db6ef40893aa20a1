package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A port whose queue of connections is full answers no more, as that of a host whose
 * network is cut. Whether the host itself answers is simulated.
 */
@Order(1)
@Timeout(60)
class HostProbeTest {

	private static final Duration HEARTBEAT = Duration.ofSeconds(2);

	private final List<Socket> clients = new ArrayList<>();

	private ServerSocket server;

	private HostProbe probe;

	private volatile boolean reachable;

	private volatile int delayMillis;

	@BeforeEach
	void listen() throws IOException {
		this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		this.probe = probe(new InetSocketAddress("127.0.0.1", this.server.getLocalPort()));
	}

	private HostProbe probe(InetSocketAddress peer) {
		return new HostProbe(peer, HEARTBEAT, (_, limitMillis) -> {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(this.reachable ? 1 : limitMillis + this.delayMillis));
			return this.reachable;
		});
	}

	@AfterEach
	void close() throws IOException {
		for (Socket client : this.clients) {
			client.close();
		}
		this.server.close();
	}

	private void silence() throws IOException {
		while (this.clients.size() < 10) {
			Socket client = new Socket();
			this.clients.add(client);
			try {
				client.connect(new InetSocketAddress("127.0.0.1", this.server.getLocalPort()), 300);
			}
			catch (SocketTimeoutException ex) {
				return;
			}
		}
		throw new AssertionError("the port answers every client");
	}

	/** Waits as a call does, and counts the checks. */
	private int waits(Duration duration, boolean arriving) throws Exception {
		int checks = 0;
		long end = System.nanoTime() + duration.toNanos();
		while (System.nanoTime() - end < 0) {
			this.probe.check(arriving ? checks : 0);
			checks++;
			Thread.sleep(10);
		}
		return checks;
	}

	@Test
	void aHostThatDoesNotAnswerEndsTheWait() throws Exception {
		silence();
		assertThatThrownBy(() -> waits(Duration.ofSeconds(30), false)).isInstanceOf(IOException.class)
			.hasMessage("127.0.0.1 has not answered for 1000 ms, neither at port " + this.server.getLocalPort()
					+ " nor itself");
	}

	@Test
	void aVerdictThatArrivesALittleAfterItsLimitCounts() throws Exception {
		silence();
		this.delayMillis = 30;
		assertThatThrownBy(() -> {
			long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
			while (System.nanoTime() - end < 0) {
				this.probe.check(0);
				Thread.sleep(1);
			}
		}).isInstanceOf(IOException.class).hasMessageContaining("has not answered");
	}

	/** TCP connects to no broadcast address: the network is unreachable. */
	@Test
	void anUnreachableNetworkIsNoAnswer() {
		this.probe = probe(new InetSocketAddress("255.255.255.255", this.server.getLocalPort()));
		assertThatThrownBy(() -> waits(Duration.ofSeconds(30), false)).isInstanceOf(IOException.class)
			.hasMessageContaining("has not answered");
	}

	/** As while other clients flood its port. */
	@Test
	void aHostThatAnswersAtAnotherPortOnlyDoesNot() throws Exception {
		silence();
		this.reachable = true;
		assertThat(waits(HEARTBEAT.multipliedBy(2), false)).isPositive();
	}

	@Test
	void aHostThatAnswersDoesNot() throws Exception {
		assertThat(waits(HEARTBEAT.multipliedBy(2), false)).isPositive();
	}

	@Test
	void aPeerThatSendsIsNotAsked() throws Exception {
		silence();
		assertThat(waits(HEARTBEAT.multipliedBy(2), true)).isPositive();
	}

	@Test
	void anEndedProcessIsLeftToItsConnection() throws Exception {
		this.server.close();
		assertThat(waits(HEARTBEAT.multipliedBy(2), false)).isPositive();
	}

	@Test
	void whatAnEarlierWaitFoundDoesNotCount() throws Exception {
		silence();
		waits(HEARTBEAT.dividedBy(2).plusMillis(100), false);
		Thread.sleep(HEARTBEAT);
		this.probe.check(0);
	}

}
