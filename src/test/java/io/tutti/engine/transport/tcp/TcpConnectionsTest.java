package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.CollectiveListener;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.Connections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Timeout(60)
class TcpConnectionsTest {

	/** A host is asked after half of it, and not before one second. */
	private static final Duration HEARTBEAT = Duration.ofSeconds(2);

	private static final Duration LIMIT = Duration.ofSeconds(20);

	private final SessionKey key = new SessionKey(new byte[] { 7 });

	private final List<Integer> arrived = new ArrayList<>();

	private TcpConnections connections(int rank, List<PeerAddress> roster, DataListener listener) throws Exception {
		return new TcpConnections(GroupIdentity.world(rank, 2, 0), roster, listener, this.key,
				new TcpSettings("system", LIMIT, HEARTBEAT, true, null), CollectiveListener.NONE);
	}

	private static DataListener listener(int rank, SessionKey key) throws Exception {
		DataListener listener = DataListener.open(InetAddress.getLoopbackAddress(), 0, 2);
		listener.start(rank, key, null);
		return listener;
	}

	private boolean arrives(TcpConnections connections) {
		connections.poll(new Connections.Handler() {
			@Override
			public void arrived(int peer, ByteStream stream) {
				TcpConnectionsTest.this.arrived.add(peer);
			}

			@Override
			public void failed(int peer, IOException cause) {
				throw new AssertionError(cause);
			}
		});
		return !this.arrived.isEmpty();
	}

	/** The port of the peer counts who asks. */
	@Test
	void theHostsOfTheRanksThatOperationsWaitForAreAsked() throws Exception {
		DataListener other = listener(1, this.key);
		try (DataListener own = listener(0, this.key)) {
			int port = other.port();
			List<PeerAddress> roster = List.of(new PeerAddress(0, "127.0.0.1", own.port(), "host"),
					new PeerAddress(1, "127.0.0.1", port, "host"));
			try (TcpConnections from = connections(0, roster, own); TcpConnections _ = connections(1, roster, other)) {
				from.dial(1);
				await().atMost(LIMIT).until(() -> arrives(from));
				other.close();
				AtomicInteger asked = new AtomicInteger();
				try (ServerSocket _ = counting(port, asked)) {
					awaitPeers(from, new BitSet(), asked, HEARTBEAT);
					assertThat(asked).hasValue(0);
					BitSet peers = new BitSet();
					peers.set(1);
					awaitPeers(from, peers, asked, LIMIT);
					assertThat(asked).hasPositiveValue();
				}
			}
		}
	}

	private static ServerSocket counting(int port, AtomicInteger asked) throws Exception {
		ServerSocket server = new ServerSocket(port, 10, InetAddress.getLoopbackAddress());
		Thread.startVirtualThread(() -> {
			while (!server.isClosed()) {
				try {
					server.accept().close();
					asked.incrementAndGet();
				}
				catch (IOException ex) {
					return;
				}
			}
		});
		return server;
	}

	private static void awaitPeers(TcpConnections connections, BitSet peers, AtomicInteger asked, Duration limit)
			throws InterruptedException {
		long end = System.nanoTime() + limit.toNanos();
		while (asked.get() == 0 && System.nanoTime() - end < 0) {
			connections.awaitPeers(peers);
			Thread.sleep(10);
		}
	}

}
