package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.Consumer;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.tls.ConnectionAcceptor;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.Tls;
import io.tutti.engine.tls.TlsChannel;
import io.tutti.engine.tls.TlsException;
import org.jspecify.annotations.Nullable;

/**
 * Accepts connections at the rendezvous address. The TLS handshake, if there is TLS, runs
 * on a thread of its own, and the rendezvous handshake on the control thread. A client
 * holds a place among the pending connections until it has joined.
 */
final class ControlAcceptor implements ConnectionAcceptor.Handshake, AutoCloseable {

	/** Time for a client to join. */
	static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);

	/** Places for clients other than the ranks, which may all connect at once. */
	private static final int OTHER_CLIENTS = 512;

	private final ConnectionAcceptor acceptor;

	private final ControlLoop loop;

	private final HandshakeProof proofs;

	private final JoinHandler joinHandler;

	/** Reads from a new connection, on the control thread. */
	private final Consumer<PendingConnection> opened;

	ControlAcceptor(ServerSocketChannel listener, ControlLoop loop, HandshakeProof proofs, int worldSize,
			JoinHandler joinHandler, Consumer<PendingConnection> opened) {
		this.acceptor = new ConnectionAcceptor(listener, OTHER_CLIENTS + worldSize, HANDSHAKE_LIMIT);
		this.loop = loop;
		this.proofs = proofs;
		this.joinHandler = joinHandler;
		this.opened = opened;
	}

	/**
	 * Starts to accept.
	 * @param tls {@code null} for plain TCP
	 */
	void open(@Nullable Tls tls) {
		this.acceptor.start("tutti-r0-accept-control", tls, this);
	}

	@Override
	public void authenticate(SocketChannel socket, @Nullable TlsChannel tls, HandshakeDeadline deadline)
			throws IOException {
		ControlConnection connection = (tls != null) ? new ControlConnection(tls) : new ControlConnection(socket);
		this.loop.execute(() -> register(new PendingConnection(connection, new ServerHandshake(this.proofs))));
	}

	private void register(PendingConnection pending) {
		ControlConnection connection = pending.connection();
		try {
			connection.register(this.loop.register(connection.channel(), SelectionKey.OP_READ, pending));
			// TLS may already have taken the first message from the socket.
			this.opened.accept(pending);
		}
		catch (IOException ex) {
			connection.close();
			release(pending);
		}
	}

	@Override
	public ByteBuffer refusal(TlsException.Reason reason, String problem) {
		return MessageCodec.encode(new Refused(Reason.AUTHENTICATION,
				problem + ((reason == TlsException.Reason.NOT_TLS) ? ", and rank 0 does" : "")
						+ "; give every rank the same tutti.tls.bundle and tutti.tls.peer-name, with a certificate"
						+ " that carries that name"));
	}

	@Override
	public void rejected(String client, TlsException cause) {
		this.loop.execute(() -> this.joinHandler.closed(client, cause.getMessage() + advice(cause.reason())));
	}

	private static String advice(TlsException.Reason reason) {
		return switch (reason) {
			case NOT_TLS -> ", and rank 0 does; give every rank the same tutti.tls.bundle";
			case UNTRUSTED -> "; give every rank a certificate of the authority that tutti.tls.bundle trusts";
			case REFUSED -> "; it may have no certificate of the authority that tutti.tls.bundle trusts, and its own"
					+ " log says more";
		};
	}

	/**
	 * The client has joined, or its connection is closed.
	 * @return {@code false} if the acceptor has closed it
	 */
	boolean release(PendingConnection pending) {
		return this.acceptor.release(pending.connection().channel());
	}

	/** Closes the connections of clients that have not joined in time. */
	void closeExpired() {
		this.acceptor.closeExpired();
	}

	@Override
	public void close() {
		this.acceptor.close();
	}

}
