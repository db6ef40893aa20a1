package io.tutti.engine.tls;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.tls.TlsException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the connections of one port on a thread of its own. Each connection does its
 * TLS handshake, if there is TLS, and then the port's own handshake on a virtual thread,
 * within a time limit. A client that has not authenticated holds one place among a
 * limited number, see {@link HandshakeLimiter}.
 */
public final class ConnectionAcceptor implements AutoCloseable {

	/** Authenticates the connections of one port. */
	public interface Handshake {

		/**
		 * Authenticates a connection, on a thread of its own. The connection blocks. It
		 * is closed on failure.
		 * @param tls TLS over the socket after its handshake, {@code null} for plain TCP
		 * @param deadline ends the handshake
		 */
		void authenticate(SocketChannel socket, @Nullable TlsChannel tls, HandshakeDeadline deadline)
				throws IOException;

		/** The encoded message for a client that TLS rejects. */
		default ByteBuffer refusal(Reason reason, String problem) {
			return ByteBuffer.allocate(0);
		}

		/** The TLS handshake with a client has failed. */
		default void rejected(String client, TlsException cause) {
		}

	}

	/** Pause of the accept loop while the system has no descriptor left. */
	private static final Duration PAUSE = Duration.ofMillis(50);

	/** Time for a rejected client to read the reason. */
	private static final Duration LINGER = Duration.ofSeconds(1);

	private final ServerSocketChannel server;

	private final Duration handshakeLimit;

	private final HandshakeLimiter limiter;

	/**
	 * @param server a bound socket, which the acceptor closes
	 * @param maxPending connections at once that have not authenticated
	 * @param handshakeLimit time for one handshake
	 */
	public ConnectionAcceptor(ServerSocketChannel server, int maxPending, Duration handshakeLimit) {
		this.server = server;
		this.handshakeLimit = handshakeLimit;
		this.limiter = new HandshakeLimiter(maxPending, handshakeLimit);
	}

	/**
	 * Starts to accept.
	 * @param tls {@code null} for plain TCP
	 */
	public void start(String threadName, @Nullable Tls tls, Handshake handshake) {
		Thread.ofPlatform().name(threadName).daemon().start(() -> acceptAll(tls, handshake));
	}

	/** Whether the port is open. */
	public boolean isOpen() {
		return this.server.isOpen();
	}

	/** The port that was bound. */
	public int port() {
		return this.server.socket().getLocalPort();
	}

	/**
	 * The connection has authenticated, or its owner has closed it.
	 * @return {@code false} if the acceptor has closed it
	 */
	public boolean release(SocketChannel channel) {
		return this.limiter.remove(channel);
	}

	/** Closes connections that have not authenticated within the time limit. */
	public void closeExpired() {
		this.limiter.closeOlderThan(this.handshakeLimit);
	}

	private void acceptAll(@Nullable Tls tls, Handshake handshake) {
		while (this.server.isOpen()) {
			try {
				this.limiter.awaitRoom();
				SocketChannel channel = this.server.accept();
				this.limiter.add(channel);
				Thread.startVirtualThread(() -> authenticate(channel, tls, handshake));
			}
			catch (ClosedChannelException | InterruptedException ex) {
				return;
			}
			catch (IOException ex) {
				// The process is most likely out of descriptors.
				this.limiter.closeOldest();
				LockSupport.parkNanos(PAUSE.toNanos());
			}
		}
	}

	private void authenticate(SocketChannel channel, @Nullable Tls tls, Handshake handshake) {
		long startNanos = System.nanoTime();
		HandshakeDeadline deadline = () -> {
			if (System.nanoTime() - startNanos >= this.handshakeLimit.toNanos()) {
				throw new IOException("the handshake took longer than " + this.handshakeLimit.toMillis() + " ms");
			}
		};
		try {
			TlsChannel secured = (tls != null)
					? tls.accept(channel, deadline, (problem) -> handshake.refusal(Reason.UNTRUSTED, problem)) : null;
			handshake.authenticate(channel, secured, deadline);
		}
		catch (TlsException ex) {
			handshake.rejected(describe(channel), ex);
			closeAfterRefusal(channel, ex, handshake);
			this.limiter.remove(channel);
		}
		catch (IOException | RuntimeException ex) {
			HandshakeLimiter.close(channel);
			this.limiter.remove(channel);
		}
	}

	private static void closeAfterRefusal(SocketChannel channel, TlsException cause, Handshake handshake) {
		try {
			if (cause.reason() == Reason.NOT_TLS) {
				channel.write(handshake.refusal(cause.reason(), String.valueOf(cause.getMessage())));
			}
			channel.shutdownOutput();
		}
		catch (IOException ex) {
			// The client has closed the connection.
		}
		LingeringClose.run(channel, LINGER);
	}

	private static String describe(SocketChannel channel) {
		try {
			return String.valueOf(channel.getRemoteAddress());
		}
		catch (IOException ex) {
			return "a closed connection";
		}
	}

	/** Closes the port and the connections that have not authenticated. */
	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			// The process gives the port back.
		}
		this.limiter.close();
	}

}
