package io.tutti.engine.bootstrap;

import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

import io.tutti.FreePort;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.tls.PeerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

}
