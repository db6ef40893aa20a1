package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.control.ControlMessage.ClientHello;
import io.tutti.engine.control.LocalAddress;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import io.tutti.engine.tls.Tls;
import io.tutti.engine.tls.TlsException;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the connections of one port on a thread of its own. Each connection does its
 * TLS handshake, if there is TLS, and then the {@link Handshake} on a virtual thread,
 * within a time limit. A client that has not authenticated holds one place among a
 * limited number, see {@link HandshakeLimiter}. A client that is refused gets the reason.
 */
public final class ConnectionAcceptor implements AutoCloseable {

	/**
	 * The owner of a port. Called on the thread of one handshake.
	 *
	 * @param <H> the hello of the port's purpose
	 */
	public interface Port<H extends ClientHello> {

		/**
		 * A client has proved itself. The owner releases the connection, see
		 * {@link #release}, and then sends the welcome: one that is closed to make room
		 * must not look established to the client.
		 * @throws HandshakeException to refuse the client
		 */
		void authenticated(PeerSocket socket, Handshake.Verified<H> client) throws IOException;

		/** A client was refused. */
		default void refused(String client, String reason) {
		}

	}

	/** Time for one handshake. */
	public static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);

	/**
	 * Connections that the kernel holds until they are accepted. All ranks may connect at
	 * once.
	 */
	public static final int BACKLOG = 1024;

	/** Places for clients other than the ranks, which may all connect at once. */
	public static final int OTHER_CLIENTS = 512;

	/** Pause of the accept loop while the system has no descriptor or thread left. */
	private static final Duration PAUSE = Duration.ofMillis(50);

	/** Time for a refused client to read the reason. */
	private static final Duration LINGER = Duration.ofSeconds(1);

	/**
	 * Time for the accepting thread to end, which takes microseconds unless the machine
	 * is overloaded.
	 */
	private static final Duration END_LIMIT = Duration.ofSeconds(2);

	/** How long a port in use is tried again. */
	private static final Duration PORT_LIMIT = Duration.ofSeconds(1);

	private static final Duration PORT_PAUSE = Duration.ofMillis(20);

	private final ServerSocketChannel server;

	private final Duration handshakeLimit;

	private final HandshakeLimiter limiter;

	private volatile @Nullable Thread accepting;

	/**
	 * Listens on a port. One that is in use is tried again for a second: a process that
	 * this one has started, or one that replaces it, inherits a socket, and has the port
	 * of one that was closed until it runs its program.
	 * @throws BindException if the port stays in use or is not permitted, or if the
	 * address is not of this host
	 * @throws InterruptedIOException if the thread is interrupted meanwhile, which stays
	 * set
	 */
	public static ServerSocketChannel listen(InetSocketAddress at, int backlog) throws IOException {
		long endNanos = System.nanoTime() + PORT_LIMIT.toNanos();
		while (true) {
			ServerSocketChannel server = ServerSocketChannel.open();
			try {
				return server.bind(at, backlog);
			}
			catch (IOException | RuntimeException ex) {
				server.close();
				if (!(ex instanceof BindException) || System.nanoTime() - endNanos >= 0
						|| !LocalAddress.isOfThisHost(at.getAddress())) {
					throw ex;
				}
			}
			LockSupport.parkNanos(PORT_PAUSE.toNanos());
			if (Thread.currentThread().isInterrupted()) {
				throw new InterruptedIOException("interrupted while port " + at.getPort() + " was in use");
			}
		}
	}

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
	public <H extends ClientHello> void start(String threadName, @Nullable Tls tls, Handshake<H> handshake,
			Port<H> port) {
		this.accepting = Thread.ofPlatform().name(threadName).daemon().start(() -> acceptAll(tls, handshake, port));
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
	 * The connection has authenticated: the acceptor no longer limits or closes it.
	 * @return {@code false} if the acceptor has closed it
	 */
	public boolean release(PeerSocket socket) {
		return this.limiter.remove(socket.socket());
	}

	/**
	 * Refuses a client and closes the connection. Blocks until the client has read the
	 * reason, for a limited time.
	 * @param reason the message to send, {@code null} if a TLS alert states the reason
	 */
	void refuse(PeerSocket socket, @Nullable HandshakeException reason) {
		try {
			if (reason != null) {
				Handshake.write(socket, reason.message(), HandshakeDeadline.within(LINGER));
			}
			socket.shutdownOutput();
		}
		catch (IOException ex) {
			// The client has closed the connection.
		}
		socket.closeAfterPeer(LINGER);
		release(socket);
	}

	private <H extends ClientHello> void acceptAll(@Nullable Tls tls, Handshake<H> handshake, Port<H> port) {
		boolean reported = false;
		while (this.server.isOpen()) {
			try {
				this.limiter.awaitRoom();
				accept(tls, handshake, port);
				continue;
			}
			catch (ClosedChannelException | InterruptedException ex) {
				return;
			}
			catch (IOException ex) {
				// The process is most likely out of descriptors.
			}
			catch (RuntimeException | Error ex) {
				// The process is most likely out of memory or threads.
				if (!reported) {
					reported = true;
					// The thread's handler may end the process.
					ex.printStackTrace();
				}
			}
			this.limiter.closeOldest();
			LockSupport.parkNanos(PAUSE.toNanos());
		}
	}

	private <H extends ClientHello> void accept(@Nullable Tls tls, Handshake<H> handshake, Port<H> port)
			throws IOException {
		SocketChannel socket = this.server.accept();
		try {
			this.limiter.add(socket);
			Thread.startVirtualThread(() -> secure(socket, tls, handshake, port));
		}
		catch (RuntimeException | Error ex) {
			this.limiter.remove(socket);
			new PeerSocket(socket).close();
			throw ex;
		}
	}

	private <H extends ClientHello> void secure(SocketChannel channel, @Nullable Tls tls, Handshake<H> handshake,
			Port<H> port) {
		HandshakeDeadline deadline = HandshakeDeadline.within(this.handshakeLimit);
		PeerSocket socket = new PeerSocket(channel);
		String client = "a client";
		try {
			socket = PeerSocket.accept(channel, tls, deadline,
					(problem) -> MessageCodec.encode(refusal(TlsException.Reason.UNTRUSTED, problem).message()));
			Handshake.Verified<H> verified = handshake.accept(socket, deadline);
			client = "rank " + verified.hello().rank();
			port.authenticated(socket, verified);
		}
		catch (TlsException ex) {
			HandshakeException refusal = refusal(ex.reason(), String.valueOf(ex.getMessage()));
			port.refused(client + " from " + describe(socket), String.valueOf(refusal.getMessage()));
			refuse(socket, (ex.reason() == TlsException.Reason.NOT_TLS) ? refusal : null);
		}
		catch (HandshakeException ex) {
			port.refused(client + " from " + describe(socket), String.valueOf(ex.getMessage()));
			refuse(socket, ex);
		}
		catch (IOException | RuntimeException ex) {
			socket.close();
			release(socket);
		}
		catch (Error ex) {
			socket.close();
			release(socket);
			// The thread's handler may end the process.
			ex.printStackTrace();
		}
	}

	private static HandshakeException refusal(TlsException.Reason reason, String problem) {
		return new HandshakeException(Reason.AUTHENTICATION, problem + switch (reason) {
			case NOT_TLS -> ", which this job requires; give every rank the same tutti.tls.bundle";
			case UNTRUSTED -> "; give every rank a certificate of the authority that tutti.tls.bundle trusts, with the"
					+ " name tutti.tls.peer-name";
			case REFUSED -> "; it may have no certificate of the authority that tutti.tls.bundle trusts, and its own"
					+ " log says more";
		});
	}

	/** A client's address for a log line. */
	static String describe(PeerSocket socket) {
		try {
			return String.valueOf(socket.socket().getRemoteAddress());
		}
		catch (IOException ex) {
			return "a closed connection";
		}
	}

	/**
	 * Closes the port and the connections that have not authenticated. Then the port is
	 * free.
	 */
	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			// The kernel closes the port with the process.
		}
		this.limiter.close();
		awaitEnd();
	}

	/**
	 * The kernel frees the port when the thread leaves its system call, so that the
	 * caller can listen there again.
	 */
	private void awaitEnd() {
		Thread thread = this.accepting;
		if (thread == null || thread == Thread.currentThread()) {
			return;
		}
		try {
			thread.join(END_LIMIT);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
