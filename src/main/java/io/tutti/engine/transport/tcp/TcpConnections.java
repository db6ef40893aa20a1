package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * The TCP connections for one group's messages. Whoever has something to tell makes the
 * connection and the other side uses it as well; where both do so at once, there are two,
 * and each rank speaks on its own.
 */
public final class TcpConnections implements Connections {

	/** What a group's name is followed by on its connections for messages. */
	private static final String SUFFIX = "/p2p";

	private record Arrival(int peer, @Nullable DataConnection connection, boolean dialed, @Nullable IOException cause) {
	}

	private final GroupIdentity identity;

	private final String name;

	private final DataListener listener;

	private final Connector connector;

	private final Selector selector;

	private final Queue<Arrival> arrived = new ConcurrentLinkedQueue<>();

	private final List<PolledStream> wires = new ArrayList<>();

	private volatile boolean closed;

	/**
	 * No connections yet; from now on they are let in.
	 * @param roster where each world rank accepts connections
	 * @param listener where this process accepts its own
	 */
	public TcpConnections(GroupIdentity identity, List<PeerAddress> roster, DataListener listener, SessionKey key,
			TcpSettings settings, CollectiveListener events) throws IOException {
		this.identity = identity;
		this.name = identity.name() + SUFFIX;
		this.listener = listener;
		this.connector = new Connector(identity, roster, listener, key, settings, events);
		this.selector = Selector.open();
		listener.subscribe(this.name, identity.generation(), this::letIn);
	}

	private void letIn(int from, DataConnection connection) {
		int peer = this.identity.members().indexOf(from);
		try {
			if (peer < 0) {
				connection.close();
				return;
			}
			this.connector.prepare(connection.channel(), from);
			this.arrived.add(new Arrival(peer, connection, false, null));
		}
		catch (IOException ex) {
			this.arrived.add(new Arrival(peer, null, false, ex));
		}
		announce();
	}

	private void announce() {
		if (this.closed) {
			giveUpArrivals();
		}
		this.selector.wakeup();
	}

	private void giveUpArrivals() {
		Arrival next = this.arrived.poll();
		while (next != null) {
			DataConnection unused = next.connection();
			if (unused != null) {
				unused.close();
			}
			next = this.arrived.poll();
		}
	}

	@Override
	public void dial(int peer, long maxMillis) {
		Thread.startVirtualThread(() -> {
			try {
				DataConnection connection = this.connector.dial(peer, this.name, maxMillis, () -> {
				});
				this.arrived.add(new Arrival(peer, connection, true, null));
			}
			catch (IOException ex) {
				this.arrived.add(new Arrival(peer, null, true, ex));
			}
			catch (RuntimeException ex) {
				this.arrived.add(new Arrival(peer, null, true, new IOException("connecting failed: " + ex, ex)));
			}
			announce();
		});
	}

	@Override
	public boolean poll(Handler handler) {
		if (this.arrived.isEmpty()) {
			return false;
		}
		Arrival next = this.arrived.poll();
		while (next != null) {
			take(next, handler);
			next = this.arrived.poll();
		}
		return true;
	}

	private void take(Arrival arrival, Handler handler) {
		DataConnection connection = arrival.connection();
		IOException cause = arrival.cause();
		if (connection != null) {
			try {
				PolledStream wire = new PolledStream(connection, connection.channel().register(this.selector, 0));
				this.wires.add(wire);
				handler.arrived(arrival.peer(), wire, arrival.dialed());
			}
			catch (IOException ex) {
				handler.failed(arrival.peer(), ex);
			}
		}
		else if (cause != null) {
			handler.failed(arrival.peer(), cause);
		}
	}

	@Override
	public void prepareSleep(int awaited) {
		for (int i = 0; i < this.wires.size(); i++) {
			this.wires.get(i).declareInterest();
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
		this.listener.unsubscribe(this.name, this.identity.generation());
		this.wires.forEach(PolledStream::close);
		giveUpArrivals();
		try {
			this.selector.close();
		}
		catch (IOException ex) {
			// Nothing is left to be done with it.
		}
	}

}
