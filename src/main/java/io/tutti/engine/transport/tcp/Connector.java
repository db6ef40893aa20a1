package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;

import io.tutti.CollectiveListener;
import io.tutti.engine.bootstrap.ConnectAttempts;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.LocalFaultException;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.SocketWait;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * Makes the data connections of one group: of two ranks the higher connects and the lower
 * accepts, so that there is one connection.
 */
final class Connector {

	private static final int KEEP_ALIVE_PROBES = 3;

	/** The kernel's limit for the times of probes, in seconds. */
	private static final int MAX_KEEP_ALIVE = 32767;

	private final GroupIdentity identity;

	private final List<PeerAddress> roster;

	private final DataListener listener;

	private final Handshake<DataHello> handshake;

	private final TcpSettings settings;

	private final CollectiveListener events;

	private final NameService names;

	Connector(GroupIdentity identity, List<PeerAddress> roster, DataListener listener, SessionKey key,
			TcpSettings settings, CollectiveListener events) {
		this(identity, roster, listener, key, settings, events, NameService.SYSTEM);
	}

	/** As above, with another name service. */
	Connector(GroupIdentity identity, List<PeerAddress> roster, DataListener listener, SessionKey key,
			TcpSettings settings, CollectiveListener events, NameService names) {
		this.identity = identity;
		this.roster = roster;
		this.listener = listener;
		this.handshake = Handshake.ofData(key);
		this.settings = settings;
		this.events = events;
		this.names = names;
	}

	/**
	 * The connection to a rank of the group, non-blocking; {@code null} if the peer makes
	 * it and it has not arrived.
	 * @param notice called from another thread when it arrives
	 * @param progressCheck called while the peer does not answer; throws to give up, such
	 * as at the call's deadline
	 * @throws LocalFaultException if this rank cannot resolve the peer's host name, or
	 * can open no socket
	 */
	@Nullable TcpStream connect(int peer, Runnable notice, Runnable progressCheck) throws IOException {
		int self = this.identity.worldRank();
		int other = this.identity.members().get(peer);
		String group = this.identity.connectionName();
		long generation = this.identity.generation();
		TcpStream stream = (self > other) ? open(new DataHello(group, generation, self, other), progressCheck)
				: this.listener.poll(new DataHello(group, generation, other, self), notice);
		if (stream != null) {
			prepare(stream, other);
		}
		return stream;
	}

	/**
	 * A connection to a rank of the group under another name, which this rank makes
	 * whatever the order of the two.
	 * @throws LocalFaultException if this rank cannot resolve the peer's host name, or
	 * can open no socket
	 */
	TcpStream connect(int peer, String name) throws IOException {
		int other = this.identity.members().get(peer);
		TcpStream stream = open(new DataHello(name, this.identity.generation(), this.identity.worldRank(), other),
				() -> {
				});
		prepare(stream, other);
		return stream;
	}

	/**
	 * Connects to a world rank within the time that a rank which listens needs. The rank
	 * may close connections to make room for others, also before this rank sees that they
	 * are established. No data have been sent then.
	 */
	private TcpStream open(DataHello hello, Runnable progressCheck) throws IOException {
		PeerAddress address = this.roster.get(hello.acceptor());
		HandshakeDeadline limit = HandshakeDeadline.within(this.settings.connect());
		HandshakeDeadline check = () -> {
			progressCheck.run();
			limit.check();
		};
		InetSocketAddress target = resolved(address, check);
		Deadline lastAttempt = Deadline.after(this.settings.connect());
		ConnectAttempts attempts = new ConnectAttempts();
		while (true) {
			try {
				TcpStream stream = new TcpStream(
						this.handshake.connect(target, this.settings.tls(), (_) -> hello, check));
				stream.watch(new HostProbe(target, this.settings.heartbeat()));
				return stream;
			}
			catch (LocalFaultException ex) {
				throw ex;
			}
			catch (IOException ex) {
				if (!closedByPeer(ex) || !pause(attempts, lastAttempt)) {
					throw new IOException(
							"connecting to " + address.host() + ":" + address.port() + " failed: " + ex.getMessage(),
							ex);
				}
				progressCheck.run();
			}
		}
	}

	/**
	 * Whether a connection has ended or was reset, which has no type of its own; that it
	 * was refused has one.
	 */
	private static boolean closedByPeer(IOException ex) {
		return ex instanceof EOFException || ex.getClass() == SocketException.class
				|| ex.getClass() == IOException.class;
	}

	/** An interrupt ends the pause and the attempts. */
	private static boolean pause(ConnectAttempts attempts, Deadline lastAttempt) {
		try {
			return attempts.pause(lastAttempt);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private InetSocketAddress resolved(PeerAddress address, HandshakeDeadline limit) throws IOException {
		try {
			return new InetSocketAddress(InetAddress.ofLiteral(address.host()), address.port());
		}
		catch (IllegalArgumentException ex) {
			return new InetSocketAddress(lookUp(address, limit), address.port());
		}
	}

	/**
	 * Resolves a rank's host name once: the JVM caches a negative answer for some
	 * seconds.
	 */
	private InetAddress lookUp(PeerAddress address, HandshakeDeadline limit) throws IOException {
		FutureTask<InetAddress[]> lookup = this.names.lookUp(address.host());
		SocketWait wait = new SocketWait(limit);
		try {
			while (!lookup.isDone()) {
				wait.pause();
			}
		}
		catch (SocketTimeoutException ex) {
			throw unresolved(address, ex);
		}
		if (lookup.state() != Future.State.SUCCESS) {
			throw unresolved(address, lookup.exceptionNow());
		}
		return lookup.resultNow()[0];
	}

	private LocalFaultException unresolved(PeerAddress address, Throwable cause) {
		return new LocalFaultException("rank " + this.identity.worldRank() + " cannot resolve the host name "
				+ address.host() + " that rank " + address.rank() + " advertises; give rank " + address.rank()
				+ " a tutti.transport.advertised-host that every rank can resolve, or leave it out", cause);
	}

	/**
	 * Sets the options of a new connection to a world rank. Closes it on failure.
	 */
	void prepare(TcpStream stream, int other) throws IOException {
		SocketChannel channel = stream.socket();
		try {
			channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
			keepAlive(channel);
			setCongestionControl(channel, other);
		}
		catch (IOException ex) {
			stream.close();
			throw ex;
		}
	}

	/**
	 * The kernel asks a peer's host from which nothing has arrived, and ends the
	 * connection after the time of a heartbeat without an answer. It does not while data
	 * that this rank has sent are unacknowledged: see {@link HostProbe}.
	 */
	private void keepAlive(SocketChannel channel) throws IOException {
		int seconds = Math.clamp(this.settings.heartbeat().toSeconds(), 2 * KEEP_ALIVE_PROBES, MAX_KEEP_ALIVE);
		channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
		channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, seconds / 2);
		channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_PROBES);
		channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, seconds / 2 / KEEP_ALIVE_PROBES);
	}

	private void setCongestionControl(SocketChannel channel, int other) {
		String algorithm = this.settings.congestionControl();
		if (sameHost(other) && !algorithm.equals(CongestionControl.SYSTEM)) {
			String problem = CongestionControl.set(channel, algorithm);
			if (problem != null && isFirstOfHost() && this.listener.reportsCongestionControlFirst()) {
				this.events.note("TCP congestion control stays at the kernel's default: " + problem);
			}
		}
	}

	/** One rank of a host reports what is true of all. */
	private boolean isFirstOfHost() {
		return IntStream.range(0, this.identity.worldRank()).noneMatch(this::sameHost);
	}

	private boolean sameHost(int other) {
		return this.roster.get(other).hostIdentity().equals(this.roster.get(this.identity.worldRank()).hostIdentity());
	}

}
