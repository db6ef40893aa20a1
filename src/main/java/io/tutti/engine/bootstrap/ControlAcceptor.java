package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.tls.Tls;
import io.tutti.engine.tls.TlsChannel;
import org.jspecify.annotations.Nullable;

/**
 * Where rank 0 takes calls. Callers who have proved nothing are few, have little time and
 * little room, so that no number of them holds up the ranks: when there are too many, the
 * one that has dawdled longest goes first.
 */
final class ControlAcceptor implements AutoCloseable {

	/** How long a caller may take until it has its seat. */
	static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);

	/** Ranks all come at once; strangers beyond that number are not waited for. */
	private static final int STRANGERS = 512;

	/** Calls taken before somebody else gets a turn. */
	private static final int CALLS_PER_TURN = 64;

	private final ServerSocketChannel listener;

	private final ControlLoop loop;

	private final HandshakeProof proofs;

	private final int mostUnproved;

	/** Hears of callers that may already have said something. */
	private final Consumer<PendingConnection> seen;

	/** Where callers come from who speak TLS, {@code null} if nobody does. */
	private final @Nullable TlsAcceptor tlsAcceptor;

	/** The one who called first comes first. */
	private final Set<PendingConnection> unproved = new LinkedHashSet<>();

	private @Nullable SelectionKey key;

	/**
	 * @param tls how callers speak, {@code null} for in the clear
	 * @param joinHandler hears of callers who are turned away before they say anything
	 * @param seen hears of callers who may already have said something
	 */
	ControlAcceptor(ServerSocketChannel listener, ControlLoop loop, HandshakeProof proofs, int worldSize,
			@Nullable Tls tls, JoinHandler joinHandler, Consumer<PendingConnection> seen) {
		this.listener = listener;
		this.loop = loop;
		this.proofs = proofs;
		this.mostUnproved = STRANGERS + worldSize;
		this.seen = seen;
		this.tlsAcceptor = (tls != null) ? new TlsAcceptor(tls, loop, listener(joinHandler), this.mostUnproved) : null;
	}

	private TlsAcceptor.Listener listener(JoinHandler joinHandler) {
		return new TlsAcceptor.Listener() {
			@Override
			public void admitted(TlsChannel channel, long sinceNanos) throws IOException {
				ControlAcceptor.this.seen.accept(welcome(new ControlConnection(channel), sinceNanos));
			}

			@Override
			public void turnedAway(String from, String why) {
				joinHandler.hungUp(from, why);
			}
		};
	}

	void open() throws IOException {
		this.listener.configureBlocking(false);
		this.key = this.loop.register(this.listener, SelectionKey.OP_ACCEPT, this);
	}

	/** Takes calls that have come. */
	void accept(long nowNanos) {
		for (int i = 0; i < CALLS_PER_TURN; i++) {
			try {
				SocketChannel channel = this.listener.accept();
				if (channel == null) {
					return;
				}
				receive(channel, nowNanos);
			}
			catch (IOException ex) {
				// Out of descriptors, most likely: a stranger gives one back, and calls
				// wait.
				closeOldest();
				listen(0);
				return;
			}
		}
	}

	private void receive(SocketChannel channel, long nowNanos) throws IOException {
		if (this.tlsAcceptor != null) {
			this.tlsAcceptor.enter(channel, nowNanos);
			return;
		}
		try {
			welcome(new ControlConnection(channel), nowNanos);
		}
		catch (IOException ex) {
			channel.close();
		}
	}

	private PendingConnection welcome(ControlConnection connection, long sinceNanos) throws IOException {
		PendingConnection pending = new PendingConnection(connection, new ServerHandshake(this.proofs), sinceNanos);
		connection.register(this.loop.register(connection.channel(), SelectionKey.OP_READ, pending));
		this.unproved.add(pending);
		if (this.unproved.size() > this.mostUnproved) {
			closeOldest();
		}
		return pending;
	}

	/** The caller has its seat, or has gone. */
	void done(PendingConnection pending) {
		this.unproved.remove(pending);
	}

	/** Hangs up on those whose time is up, and listens again. */
	void expire(long nowNanos) {
		listen(SelectionKey.OP_ACCEPT);
		Iterator<PendingConnection> oldestFirst = this.unproved.iterator();
		while (oldestFirst.hasNext()) {
			PendingConnection pending = oldestFirst.next();
			if (nowNanos - pending.sinceNanos() < HANDSHAKE_LIMIT.toNanos()) {
				return;
			}
			pending.connection().close();
			oldestFirst.remove();
		}
	}

	private void listen(int interest) {
		if (this.key != null && this.key.isValid()) {
			this.key.interestOps(interest);
		}
	}

	private void closeOldest() {
		if (this.tlsAcceptor != null) {
			this.tlsAcceptor.closeOldest();
		}
		Iterator<PendingConnection> oldestFirst = this.unproved.iterator();
		if (oldestFirst.hasNext()) {
			oldestFirst.next().connection().close();
			oldestFirst.remove();
		}
	}

	@Override
	public void close() {
		if (this.tlsAcceptor != null) {
			this.tlsAcceptor.close();
		}
		this.unproved.forEach((pending) -> pending.connection().close());
		this.unproved.clear();
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			// The port is given back either way.
		}
	}

}
