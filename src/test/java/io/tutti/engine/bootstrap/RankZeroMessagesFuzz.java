package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;

import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.tls.HandshakeDeadline;

/**
 * Checks that a rank never joins a server that is not its rank 0, whatever bytes the
 * server sends: the rank retries or reports a wrong peer.
 */
public final class RankZeroMessagesFuzz {

	private RankZeroMessagesFuzz() {
	}

	private static final Duration LIMIT = Duration.ofSeconds(5);

	private static final Handshake<Hello> HANDSHAKE = Handshake.ofControl("the token");

	/** Reads an input. Throws if the check fails. */
	public static void read(byte[] input) throws Exception {
		try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			Thread answering = Thread.ofVirtual().start(() -> answer(listener, input));
			try {
				HANDSHAKE
					.connect(new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort()), null,
							(local) -> RawRank.hello(1, 2), HandshakeDeadline.within(LIMIT))
					.close();
				throw new AssertionError("a server was trusted without the token");
			}
			catch (IOException ex) {
				// The rank may retry or fail, but has not joined.
			}
			answering.join(LIMIT);
		}
	}

	private static void answer(ServerSocket listener, byte[] input) {
		try (Socket socket = listener.accept()) {
			socket.getOutputStream().write(input);
			socket.shutdownOutput();
			socket.setSoTimeout((int) LIMIT.toMillis());
			socket.getInputStream().readAllBytes();
		}
		catch (IOException ex) {
			// The rank has closed the connection.
		}
	}

}
