package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.List;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.rendezvous.PeerAddress;
import io.tutti.engine.rendezvous.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Makes the data connections of one group: of two ranks the higher connects and the lower
 * accepts, so that one connection comes of it.
 */
final class Connector {

	private final GroupIdentity identity;

	private final List<PeerAddress> roster;

	private final DataListener listener;

	private final DataHandshake handshake;

	private final TcpSettings settings;

	private final CollectiveListener events;

	private volatile boolean congestionNoted;

	Connector(GroupIdentity identity, List<PeerAddress> roster, DataListener listener, SessionKey key,
			TcpSettings settings, CollectiveListener events) {
		this.identity = identity;
		this.roster = roster;
		this.listener = listener;
		this.handshake = new DataHandshake(key);
		this.settings = settings;
		this.events = events;
	}

	/**
	 * The connection to a rank of the group, non-blocking; {@code null} if it is the
	 * other's to make and has not come.
	 * @param notice called from another thread when it has come
	 */
	@Nullable SocketChannel connect(int peer, long maxMillis, Runnable notice) throws IOException {
		int self = this.identity.worldRank();
		int other = this.identity.members().get(peer);
		SocketChannel channel;
		if (self > other) {
			channel = dial(other, new DataHello(this.identity.name(), this.identity.generation(), self, other),
					maxMillis);
		}
		else {
			channel = this.listener.poll(new DataHello(this.identity.name(), this.identity.generation(), other, self),
					notice);
		}
		if (channel != null) {
			prepare(channel, other);
		}
		return channel;
	}

	/**
	 * A connection to a rank of the group under a name of its own, non-blocking, which
	 * this rank makes whatever the order of the two.
	 */
	SocketChannel dial(int peer, String name, long maxMillis) throws IOException {
		int other = this.identity.members().get(peer);
		SocketChannel channel = dial(other,
				new DataHello(name, this.identity.generation(), this.identity.worldRank(), other), maxMillis);
		prepare(channel, other);
		return channel;
	}

	private SocketChannel dial(int other, DataHello hello, long maxMillis) throws IOException {
		PeerAddress address = this.roster.get(other);
		int millis = (int) Math.max(1, Math.min(maxMillis, this.settings.connect().toMillis()));
		SocketChannel channel = SocketChannel.open();
		try {
			channel.socket().connect(new InetSocketAddress(address.host(), address.port()), millis);
			channel.socket().setSoTimeout(millis);
			this.handshake.introduce(channel.socket(), hello);
			return channel;
		}
		catch (IOException ex) {
			channel.close();
			throw new IOException(
					"connecting to " + address.host() + ":" + address.port() + " failed: " + ex.getMessage(), ex);
		}
	}

	/** Makes a new connection to a world rank fit for data. */
	void prepare(SocketChannel channel, int other) throws IOException {
		channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
		if (sameHost(other) && !this.settings.congestionControl().equals(CongestionControl.SYSTEM)) {
			String problem = CongestionControl.set(channel, this.settings.congestionControl());
			if (problem != null && !this.congestionNoted) {
				this.congestionNoted = true;
				this.events.note("TCP congestion control stays the system's: " + problem);
			}
		}
		channel.configureBlocking(false);
	}

	private boolean sameHost(int other) {
		return this.roster.get(other).hostIdentity().equals(this.roster.get(this.identity.worldRank()).hostIdentity());
	}

}
