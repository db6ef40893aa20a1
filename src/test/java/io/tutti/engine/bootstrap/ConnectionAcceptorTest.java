package io.tutti.engine.bootstrap;

import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;

import io.tutti.FreePort;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.tls.PeerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that another test starts inherits the open sockets for an instant, in which
 * their ports stay in use.
 */
@Isolated
@Timeout(60)
class ConnectionAcceptorTest {

	private static final int ROUNDS = 50;

	/** Without connections nothing is authenticated. */
	private static final ConnectionAcceptor.Port<Hello> NO_CLIENTS = (PeerSocket socket,
			Handshake.Verified<Hello> client) -> socket.close();

	@Test
	void thePortIsFreeWhenTheAcceptorIsClosed() throws Exception {
		InetSocketAddress address = new InetSocketAddress("127.0.0.1", FreePort.next());
		for (int round = 0; round < ROUNDS; round++) {
			ServerSocketChannel server = ServerSocketChannel.open().bind(address);
			ConnectionAcceptor acceptor = new ConnectionAcceptor(server, 1, ConnectionAcceptor.HANDSHAKE_LIMIT);
			acceptor.start("accept-" + round, null, Handshake.ofControl(null), NO_CLIENTS);
			Thread.yield();
			acceptor.close();
		}
	}

	/** The time limit of a handshake is out of reach. */
	@Test
	void theOldestSilentClientIsDisconnectedWhenThereIsNoRoomForAnother() throws Exception {
		ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
		try (ConnectionAcceptor acceptor = new ConnectionAcceptor(server, 2, Duration.ofSeconds(60))) {
			acceptor.start("accept-silent", null, Handshake.ofControl(null), NO_CLIENTS);
			try (RawRank first = new RawRank(acceptor.port());
					RawRank _ = new RawRank(acceptor.port());
					RawRank _ = new RawRank(acceptor.port())) {
				assertThat(first.isHungUpOn()).isTrue();
			}
		}
	}

}
