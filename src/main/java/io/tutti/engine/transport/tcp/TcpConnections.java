package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.tutti.CollectiveListener;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * The TCP connections for one group's messages. The rank that sends first connects, and
 * the peer uses the same connection. If both connect at once, there are two connections,
 * and each rank sends on its own.
 */
public final class TcpConnections implements Connections {

	/** Follows a group's name on its connections for messages. */
	private static final String SUFFIX = "/p2p";

	private record Connection(int peer, TcpStream stream) {
	}

	private record Arrival(int peer, @Nullable TcpStream stream, @Nullable IOException cause) {
	}

	private final GroupIdentity identity;

	private final String name;

	private final DataListener listener;

	private final Connector connector;

	private final Selector selector;

	private final Queue<Arrival> arrived = new ConcurrentLinkedQueue<>();

	private final List<Connection> connections = new ArrayList<>();

	private volatile boolean closed;

	/**
	 * No connections yet. Accepts them from now on.
	 * @param roster where each world rank accepts connections
	 * @param listener where this process accepts its own
	 */
	public TcpConnections(GroupIdentity identity, List<PeerAddress> roster, DataListener listener, SessionKey key,
			TcpSettings settings, CollectiveListener events) throws IOException {
		this.identity = identity;
		this.name = identity.name() + SUFFIX;
		this.listener = listener;
		this.connector = new Connector(identity, roster, listener, key, settings, events);
		this.selector = listener.selector(this.name, identity.generation());
		listener.open(this.name, identity.generation(), this::accept);
	}

	private void accept(int from, TcpStream stream) {
		int peer = this.identity.members().indexOf(from);
		try {
			if (peer < 0) {
				stream.close();
				return;
			}
			this.connector.prepare(stream, from);
			this.arrived.add(new Arrival(peer, stream, null));
		}
		catch (IOException ex) {
			this.arrived.add(new Arrival(peer, null, ex));
		}
		announce();
	}

	private void announce() {
		if (this.closed) {
			discardArrivals();
		}
		this.selector.wakeup();
	}

	private void discardArrivals() {
		for (Arrival next = this.arrived.poll(); next != null; next = this.arrived.poll()) {
			TcpStream unused = next.stream();
			if (unused != null) {
				unused.close();
			}
		}
	}

	@Override
	public void dial(int peer) {
		Thread.startVirtualThread(() -> {
			try {
				this.arrived.add(new Arrival(peer, this.connector.connect(peer, this.name), null));
			}
			catch (IOException ex) {
				this.arrived.add(new Arrival(peer, null, ex));
			}
			catch (RuntimeException ex) {
				this.arrived.add(new Arrival(peer, null, new IOException("connecting failed: " + ex, ex)));
			}
			announce();
		});
	}

	@Override
	public boolean poll(Handler handler) {
		if (this.arrived.isEmpty()) {
			return false;
		}
		for (Arrival next = this.arrived.poll(); next != null; next = this.arrived.poll()) {
			take(next, handler);
		}
		return true;
	}

	private void take(Arrival arrival, Handler handler) {
		TcpStream stream = arrival.stream();
		IOException cause = arrival.cause();
		if (stream != null) {
			try {
				stream.register(this.selector);
				this.connections.add(new Connection(arrival.peer(), stream));
				handler.arrived(arrival.peer(), stream);
			}
			catch (IOException ex) {
				stream.close();
				handler.failed(arrival.peer(), ex);
			}
		}
		else if (cause != null) {
			handler.failed(arrival.peer(), cause);
		}
	}

	@Override
	public void awaitPeers(BitSet peers) {
		for (int i = 0; i < this.connections.size(); i++) {
			Connection each = this.connections.get(i);
			if (peers.get(each.peer())) {
				each.stream().awaitPeer();
			}
		}
	}

	@Override
	public void prepareSleep(int awaited) {
		for (int i = 0; i < this.connections.size(); i++) {
			this.connections.get(i).stream().awaitProgress();
		}
	}

	@Override
	public void sleep(long maxNanos) {
		try {
			if (this.selector.isOpen() && this.arrived.isEmpty()) {
				this.selector.select((key) -> {
				}, Math.max(1, maxNanos / 1_000_000));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("waiting for messages failed", ex);
		}
		catch (ClosedSelectorException ex) {
			// Closed by another thread: there is nothing to wait for any more.
		}
	}

	@Override
	public void wake() {
		this.selector.wakeup();
	}

	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.listener.close(this.name, this.identity.generation());
		discardArrivals();
		try {
			this.selector.close();
		}
		catch (IOException ex) {
			// The process gives the descriptor back.
		}
		this.connections.forEach((each) -> each.stream().closeAfterDelivery());
	}

}
