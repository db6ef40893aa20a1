package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.CollectiveTimeoutException;
import io.tutti.engine.bootstrap.ConnectionAcceptor;
import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.IssuedCall;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class TcpTransportTest {

	private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

	/**
	 * The peer's accept queue is full, so that the connection is not established, as with
	 * a peer that a firewall hides.
	 */
	@RepeatedTest(5)
	void aDeadlineThatPassesDuringTheFirstConnectionIsATimeout() throws Exception {
		try (ServerSocket full = new ServerSocket(0, 1, LOOPBACK);
				DataListener own = DataListener.open(LOOPBACK, 0, 2)) {
			List<SocketChannel> queued = fill(full);
			TcpSettings settings = new TcpSettings(CongestionControl.SYSTEM, Duration.ofSeconds(10),
					Duration.ofSeconds(10), true, null);
			try (TcpTransport transport = new TcpTransport(GroupIdentity.world(1, 2, 0), new FailureLatch(),
					List.of(address(0, full.getLocalPort()), address(1, own.port())), own,
					new SessionKey(new byte[] { 7 }), settings, CollectiveListener.NONE)) {
				transport.begin(IssuedCall.barrier(2, Duration.ofMillis(50)));
				assertThatThrownBy(() -> transport.link(0)).isInstanceOf(CollectiveTimeoutException.class);
			}
			for (SocketChannel channel : queued) {
				channel.close();
			}
		}
	}

	/**
	 * As a rank does to make room for the handshakes of others; the other side may see
	 * the reset before it sees that the connection was established.
	 */
	@RepeatedTest(20)
	void aConnectionThatIsResetDuringTheHandshakeIsMadeAgain() throws Exception {
		SessionKey key = new SessionKey(new byte[] { 7 });
		ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0));
		CompletableFuture<PeerSocket> served = new CompletableFuture<>();
		try (ConnectionAcceptor acceptor = new ConnectionAcceptor(server, 2, Duration.ofSeconds(10));
				DataListener own = DataListener.open(LOOPBACK, 0, 2);
				TcpTransport transport = new TcpTransport(GroupIdentity.world(1, 2, 0), new FailureLatch(),
						List.of(address(0, acceptor.port()), address(1, own.port())), own, key,
						new TcpSettings(CongestionControl.SYSTEM, Duration.ofSeconds(10), Duration.ofSeconds(10), true,
								null),
						CollectiveListener.NONE)) {
			Thread.ofVirtual().start(() -> {
				try (SocketChannel first = server.accept()) {
					first.setOption(StandardSocketOptions.SO_LINGER, 0);
				}
				catch (IOException ex) {
					served.completeExceptionally(ex);
				}
				acceptor.start("accept-second", null, Handshake.ofData(key), (socket, client) -> {
					acceptor.release(socket);
					Handshake.write(socket, client.welcome(), HandshakeDeadline.within(Duration.ofSeconds(10)));
					served.complete(socket);
				});
			});
			transport.begin(IssuedCall.barrier(2, Duration.ofSeconds(30)));
			transport.link(0);
			assertThat(transport.awaited()).isEmpty();
			served.get(10, TimeUnit.SECONDS).close();
		}
	}

	private static List<SocketChannel> fill(ServerSocket server) throws IOException {
		List<SocketChannel> queued = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			SocketChannel channel = SocketChannel.open();
			channel.configureBlocking(false);
			channel.connect(new InetSocketAddress(LOOPBACK, server.getLocalPort()));
			queued.add(channel);
		}
		return queued;
	}

	private static PeerAddress address(int rank, int port) {
		return new PeerAddress(rank, LOOPBACK.getHostAddress(), port, "host");
	}

}
