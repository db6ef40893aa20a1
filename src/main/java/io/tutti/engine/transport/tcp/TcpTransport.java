package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Selector;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.LocalFaultException;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.IdleStrategy;
import io.tutti.engine.transport.StreamLink;
import io.tutti.engine.transport.StreamTransport;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes over TCP. A group has its own connection to each peer, established on first
 * use.
 */
public final class TcpTransport extends StreamTransport {

	/** The name in properties and reports. */
	public static final String NAME = "tcp";

	private final DataListener listener;

	private final Connector connector;

	private final Selector selector;

	private final @Nullable TcpStream[] streams;

	private final boolean oversubscribed;

	/**
	 * Opens no connections.
	 * @param roster where each world rank accepts connections
	 * @param listener where this process accepts its own
	 */
	public TcpTransport(GroupIdentity identity, FailureLatch latch, List<PeerAddress> roster, DataListener listener,
			SessionKey key, TcpSettings settings, CollectiveListener events) throws IOException {
		Selector opened = listener.selector(identity.connectionName(), identity.generation());
		super(identity, latch, IdleStrategy.Limits.collective(settings.oversubscribed()));
		this.selector = opened;
		this.listener = listener;
		listener.open(identity.connectionName(), identity.generation());
		this.connector = new Connector(identity, roster, listener, key, settings, events);
		this.streams = new TcpStream[identity.worldSize()];
		this.oversubscribed = settings.oversubscribed();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public boolean oversubscribed() {
		return this.oversubscribed;
	}

	@Override
	protected @Nullable ByteStream connect(int peer) {
		try {
			TcpStream stream = this.connector.connect(peer, this.selector::wakeup, this.waiting::requireWorthWaiting);
			if (stream != null) {
				stream.register(this.selector);
				this.streams[peer] = stream;
			}
			return stream;
		}
		catch (LocalFaultException ex) {
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
			if (!this.used.get(i).connected()) {
				connect(this.used.get(i));
			}
		}
		super.stalled();
	}

	@Override
	public void sleep(long maxNanos) {
		for (int i = 0; i < this.used.size(); i++) {
			awaitProgress(this.used.get(i));
		}
		try {
			this.selector.select((key) -> {
			}, Math.max(1, maxNanos / 1_000_000));
		}
		catch (IOException ex) {
			throw new UncheckedIOException("waiting for data failed", ex);
		}
	}

	private void awaitProgress(StreamLink link) {
		TcpStream stream = this.streams[link.peer()];
		if (stream != null) {
			if (link.blockedReading() || link.blockedWriting()) {
				stream.awaitPeer();
			}
			stream.awaitProgress(link.blockedReading(), link.blockedWriting());
		}
	}

	@Override
	public void wake() {
		this.selector.wakeup();
	}

	@Override
	public void close() {
		this.listener.close(this.context.identity().connectionName(), this.context.identity().generation());
		for (TcpStream stream : this.streams) {
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
		super.close();
	}

}
