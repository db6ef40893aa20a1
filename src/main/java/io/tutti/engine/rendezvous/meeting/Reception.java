package io.tutti.engine.rendezvous.meeting;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

import io.tutti.engine.rendezvous.wire.ControlConnection;
import io.tutti.engine.rendezvous.wire.ControlLoop;
import org.jspecify.annotations.Nullable;

/**
 * Where rank 0 takes calls. Callers who have proved nothing are few, have little time and
 * little room, so that no number of them holds up the ranks: when there are too many, the
 * one that has dawdled longest goes first.
 */
final class Reception implements AutoCloseable {

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

	/** The one who called first comes first. */
	private final Set<Caller> unproved = new LinkedHashSet<>();

	private @Nullable SelectionKey key;

	Reception(ServerSocketChannel listener, ControlLoop loop, HandshakeProof proofs, int worldSize) {
		this.listener = listener;
		this.loop = loop;
		this.proofs = proofs;
		this.mostUnproved = STRANGERS + worldSize;
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
				hangUpOnFirst();
				listen(0);
				return;
			}
		}
	}

	private void receive(SocketChannel channel, long nowNanos) throws IOException {
		try {
			Caller caller = new Caller(new ControlConnection(channel), new ServerHandshake(this.proofs), nowNanos);
			caller.connection().register(this.loop.register(channel, SelectionKey.OP_READ, caller));
			this.unproved.add(caller);
		}
		catch (IOException ex) {
			channel.close();
		}
		if (this.unproved.size() > this.mostUnproved) {
			hangUpOnFirst();
		}
	}

	/** The caller has its seat, or has gone. */
	void done(Caller caller) {
		this.unproved.remove(caller);
	}

	/** Hangs up on those whose time is up, and listens again. */
	void expire(long nowNanos) {
		listen(SelectionKey.OP_ACCEPT);
		Iterator<Caller> oldestFirst = this.unproved.iterator();
		while (oldestFirst.hasNext()) {
			Caller caller = oldestFirst.next();
			if (nowNanos - caller.sinceNanos() < HANDSHAKE_LIMIT.toNanos()) {
				return;
			}
			caller.connection().close();
			oldestFirst.remove();
		}
	}

	private void listen(int interest) {
		if (this.key != null && this.key.isValid()) {
			this.key.interestOps(interest);
		}
	}

	private void hangUpOnFirst() {
		Iterator<Caller> oldestFirst = this.unproved.iterator();
		if (oldestFirst.hasNext()) {
			oldestFirst.next().connection().close();
			oldestFirst.remove();
		}
	}

	@Override
	public void close() {
		this.unproved.forEach((caller) -> caller.connection().close());
		this.unproved.clear();
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			// The port is given back either way.
		}
	}

}
