package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.UnknownHostException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.CallContext;
import io.tutti.engine.transport.CallWait;
import io.tutti.engine.transport.IdleStrategy;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.StreamLink;
import io.tutti.engine.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes over TCP, one connection per peer, made on first use and owned by one
 * group.
 */
public final class TcpTransport implements Transport, CallWait.Peers {

	/** The name in properties and reports. */
	public static final String NAME = "tcp";

	private final CallContext context;

	private final DataListener listener;

	private final Connector connector;

	private final Arena arena = Arena.ofShared();

	private final Selector selector;

	private final CallWait waiting;

	private final @Nullable Connection[] connections;

	private final List<Connection> used = new ArrayList<>();

	/**
	 * A transport without connections yet.
	 * @param roster where each world rank accepts connections
	 * @param listener where this process accepts its own
	 */
	public TcpTransport(GroupIdentity identity, FailureLatch latch, List<PeerAddress> roster, DataListener listener,
			SessionKey key, TcpSettings settings, CollectiveListener events) throws IOException {
		this.selector = Selector.open();
		this.context = new CallContext(identity, latch, this.arena);
		this.listener = listener;
		listener.open(identity.connectionName(), identity.generation());
		this.connector = new Connector(identity, roster, listener, key, settings, events);
		this.waiting = new CallWait(this.context, this, IdleStrategy.Limits.collective(settings.oversubscribed()));
		this.connections = new Connection[identity.worldSize()];
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public void begin(Call call) {
		this.context.begin(call);
		this.waiting.begin();
		for (int i = 0; i < this.used.size(); i++) {
			this.used.get(i).link.unblock();
		}
	}

	@Override
	public Link link(int peer) {
		Connection connection = this.connections[peer];
		if (connection == null) {
			connection = new Connection(new StreamLink(peer, this.context, this.arena));
			this.connections[peer] = connection;
			this.used.add(connection);
			open(connection);
		}
		return connection.link;
	}

	private void open(Connection connection) {
		int peer = connection.link.peer();
		try {
			TcpStream stream = this.connector.connect(peer, this.selector::wakeup, this.waiting::requireWorthWaiting);
			if (stream != null) {
				stream.register(this.selector);
				connection.stream = stream;
				connection.link.connect(stream);
			}
		}
		catch (UnknownHostException ex) {
			throw this.context.failure(Failure.Kind.ABORTED, List.of(this.context.identity().rank()),
					String.valueOf(ex.getMessage()), ex);
		}
		catch (IOException ex) {
			// An interrupt closes a connection in progress. The peer is not at fault.
			this.waiting.requireWorthWaiting();
			throw this.context.lost(peer, String.valueOf(ex.getMessage()), ex);
		}
	}

	@Override
	public void stalled() {
		for (int i = 0; i < this.used.size(); i++) {
			if (!this.used.get(i).link.connected()) {
				open(this.used.get(i));
			}
		}
		this.waiting.stalled();
	}

	@Override
	public void moved() {
		this.waiting.moved();
	}

	@Override
	public void sleep(long maxNanos) {
		for (int i = 0; i < this.used.size(); i++) {
			this.used.get(i).awaitProgress();
		}
		try {
			this.selector.select((key) -> {
			}, Math.max(1, maxNanos / 1_000_000));
		}
		catch (IOException ex) {
			throw new java.io.UncheckedIOException("waiting for data failed", ex);
		}
	}

	@Override
	public List<Integer> awaited() {
		return this.used.stream()
			.map((connection) -> connection.link)
			.filter((link) -> link.blockedReading() || link.blockedWriting() || !link.connected())
			.map(StreamLink::peer)
			.toList();
	}

	@Override
	public CallWait.Moved moved(int peer) {
		Connection connection = this.connections[peer];
		return (connection != null) ? connection.link.moved() : CallWait.Moved.NONE;
	}

	@Override
	public void wake() {
		this.selector.wakeup();
	}

	@Override
	public void close() {
		this.listener.close(this.context.identity().connectionName(), this.context.identity().generation());
		for (Connection connection : this.used) {
			TcpStream stream = connection.stream;
			if (stream != null) {
				stream.close();
			}
		}
		try {
			this.selector.close();
		}
		catch (IOException ex) {
			// The process gives the descriptor back.
		}
		this.arena.close();
	}

	/** A link and its connection, once made. */
	private static final class Connection {

		private final StreamLink link;

		private @Nullable TcpStream stream;

		Connection(StreamLink link) {
			this.link = link;
		}

		void awaitProgress() {
			TcpStream connected = this.stream;
			if (connected != null) {
				if (this.link.blockedReading() || this.link.blockedWriting()) {
					connected.awaitPeer();
				}
				connected.awaitProgress(this.link.blockedReading(), this.link.blockedWriting());
			}
		}

	}

}
