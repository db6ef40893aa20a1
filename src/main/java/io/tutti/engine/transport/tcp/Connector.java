package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.Tls;
import io.tutti.engine.tls.TlsChannel;
import org.jspecify.annotations.Nullable;

/**
 * Makes the data connections of one group: of two ranks the higher connects and the lower
 * accepts, so that one connection comes of it.
 */
final class Connector {

	private static final long POLL_NANOS = 100_000;

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
	 * @param worthWaiting asked while the other side says nothing; throws to give up
	 * @throws UnknownHostException if this rank cannot resolve the peer's host name
	 */
	@Nullable DataConnection connect(int peer, long maxMillis, Runnable notice, Runnable worthWaiting) throws IOException {
		int self = this.identity.worldRank();
		int other = this.identity.members().get(peer);
		DataConnection connection;
		if (self > other) {
			connection = dial(other,
					new DataHello(this.identity.connectionName(), this.identity.generation(), self, other), maxMillis,
					worthWaiting);
		}
		else {
			connection = this.listener
				.poll(new DataHello(this.identity.connectionName(), this.identity.generation(), other, self), notice);
		}
		if (connection != null) {
			prepare(connection.channel(), other);
		}
		return connection;
	}

	/**
	 * A connection to a rank of the group under a name of its own, non-blocking, which
	 * this rank makes whatever the order of the two.
	 * @param worthWaiting asked while the other side says nothing; throws to give up
	 * @throws UnknownHostException if this rank cannot resolve the peer's host name
	 */
	DataConnection dial(int peer, String name, long maxMillis, Runnable worthWaiting) throws IOException {
		int other = this.identity.members().get(peer);
		DataConnection connection = dial(other,
				new DataHello(name, this.identity.generation(), this.identity.worldRank(), other), maxMillis,
				worthWaiting);
		prepare(connection.channel(), other);
		return connection;
	}

	private DataConnection dial(int other, DataHello hello, long maxMillis, Runnable worthWaiting) throws IOException {
		PeerAddress address = this.roster.get(other);
		InetSocketAddress target = resolved(address);
		long limitNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(maxMillis, this.settings.connect().toMillis()));
		long start = System.nanoTime();
		HandshakeDeadline patience = () -> {
			worthWaiting.run();
			if (System.nanoTime() - start > limitNanos) {
				throw new IOException("no answer within " + Duration.ofNanos(limitNanos));
			}
		};
		SocketChannel channel = SocketChannel.open();
		try {
			open(channel, target, patience);
			DataConnection connection = new DataConnection(channel, secured(channel, patience));
			channel.socket().setSoTimeout(HandshakeDeadline.CONNECTING_MILLIS);
			this.handshake.introduce(connection.input(), connection.output(), hello, patience);
			return connection;
		}
		catch (IOException ex) {
			channel.close();
			throw new IOException(
					"connecting to " + address.host() + ":" + address.port() + " failed: " + ex.getMessage(), ex);
		}
		catch (RuntimeException ex) {
			channel.close();
			throw ex;
		}
	}

	/**
	 * Looks a rank's host up, once: the JVM remembers for some seconds that there was
	 * none.
	 */
	private InetSocketAddress resolved(PeerAddress address) throws UnknownHostException {
		InetSocketAddress target = new InetSocketAddress(address.host(), address.port());
		if (target.isUnresolved()) {
			throw new UnknownHostException("rank " + this.identity.worldRank() + " cannot resolve the host name "
					+ address.host() + " that rank " + address.rank() + " advertises; give rank " + address.rank()
					+ " a tutti.transport.advertised-host that every rank can resolve, or leave it out");
		}
		return target;
	}

	private @Nullable TlsChannel secured(SocketChannel channel, HandshakeDeadline patience) throws IOException {
		Tls tls = this.settings.tls();
		return (tls != null) ? tls.connect(channel, patience) : null;
	}

	private static void open(SocketChannel channel, InetSocketAddress address, HandshakeDeadline patience)
			throws IOException {
		channel.configureBlocking(false);
		channel.connect(address);
		while (!channel.finishConnect()) {
			patience.check();
			LockSupport.parkNanos(POLL_NANOS);
		}
		channel.configureBlocking(true);
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
