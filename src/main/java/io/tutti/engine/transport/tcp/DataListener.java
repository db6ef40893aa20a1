package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.tutti.engine.bootstrap.ConnectionAcceptor;
import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.bootstrap.HandshakeException;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * Accepts this process's data connections for all its groups. The port is bound before
 * the rendezvous, since each rank advertises its port there. Connections are accepted
 * once the session key is known, and those that do not prove it are closed.
 */
public final class DataListener implements AutoCloseable {

	/** A late connection to a group that was closed longer ago stays parked. */
	private static final int MAX_CLOSED_GROUPS = 4096;

	/** Receives the connections of one group. */
	interface Subscriber {

		/**
		 * A connection has arrived.
		 * @param from the world rank that connected
		 */
		void arrived(int from, TcpStream stream);

	}

	private record Group(String name, long generation) {

		static Group of(DataHello hello) {
			return new Group(hello.group(), hello.generation());
		}

	}

	private final ConnectionAcceptor acceptor;

	private final Map<Group, Subscriber> subscribers = new ConcurrentHashMap<>();

	/** Connections that no group of this rank has asked for yet. */
	private final Map<DataHello, TcpStream> parked = new ConcurrentHashMap<>();

	/** The groups that this rank has closed last, oldest first. */
	private final SequencedSet<Group> closed = new LinkedHashSet<>();

	private final Map<DataHello, Runnable> awaited = new ConcurrentHashMap<>();

	private final AtomicBoolean congestionControlReported = new AtomicBoolean();

	private DataListener(ServerSocketChannel server, int maxHandshakes, Duration handshakeLimit) {
		this.acceptor = new ConnectionAcceptor(server, maxHandshakes, handshakeLimit);
	}

	/**
	 * Binds the port.
	 * @param address where to listen, {@code null} for every address
	 * @param port port, 0 for the kernel's choice
	 * @param worldSize how many ranks may connect at once
	 */
	public static DataListener open(@Nullable InetAddress address, int port, int worldSize) throws IOException {
		return open(address, port, ConnectionAcceptor.OTHER_CLIENTS + worldSize, ConnectionAcceptor.HANDSHAKE_LIMIT);
	}

	static DataListener open(@Nullable InetAddress address, int port, int maxHandshakes, Duration handshakeLimit)
			throws IOException {
		ServerSocketChannel server;
		try {
			server = ConnectionAcceptor.listen(new InetSocketAddress(address, port), ConnectionAcceptor.BACKLOG);
		}
		catch (IOException ex) {
			throw notListening(address, port, ex.getMessage(), ex);
		}
		catch (UnsupportedAddressTypeException ex) {
			throw notListening(address, port, "its JVM has no IPv6", ex);
		}
		return new DataListener(server, maxHandshakes, handshakeLimit);
	}

	private static IOException notListening(@Nullable InetAddress address, int port, @Nullable String problem,
			Exception cause) {
		return new IOException("cannot listen for data connections "
				+ ((address != null) ? "at " + address.getHostAddress() + ", " : "on ") + "port " + port + ": "
				+ problem, cause);
	}

	/** The port that was bound. */
	public int port() {
		return this.acceptor.port();
	}

	/**
	 * Returns true once: the groups of a rank share the reason that they would report.
	 */
	boolean reportsCongestionControlFirst() {
		return this.congestionControlReported.compareAndSet(false, true);
	}

	/**
	 * Starts to accept connections.
	 * @param tls how they are encrypted, {@code null} for plain TCP
	 */
	public void start(int worldRank, SessionKey key, @Nullable Tls tls) {
		this.acceptor.start("tutti-r" + worldRank + "-accept", tls, Handshake.ofData(key),
				(socket, client) -> accept(worldRank, socket, client));
	}

	private void accept(int worldRank, PeerSocket socket, Handshake.Verified<DataHello> client) throws IOException {
		DataHello hello = client.hello();
		if (hello.acceptor() != worldRank) {
			throw new HandshakeException(RendezvousException.Reason.PROTOCOL,
					"a connection to rank " + hello.acceptor() + " has reached rank " + worldRank);
		}
		if (this.acceptor.release(socket)) {
			Handshake.write(socket, client.welcome(), HandshakeDeadline.within(ConnectionAcceptor.HANDSHAKE_LIMIT));
			park(hello, new TcpStream(socket));
		}
	}

	/** Parks a group's connections until this rank asks for them. */
	void open(String group, long generation) {
		synchronized (this.closed) {
			this.closed.remove(new Group(group, generation));
		}
	}

	/** Gives all connections of a group to a subscriber, also those that are parked. */
	void open(String group, long generation, Subscriber subscriber) {
		open(group, generation);
		this.subscribers.put(new Group(group, generation), subscriber);
		this.parked.keySet().forEach(this::deliver);
	}

	/**
	 * A selector for a group's connections. If the process has no descriptor left for it,
	 * the group does not form, and its parked connections are closed.
	 */
	Selector selector(String group, long generation) throws IOException {
		return CleanUp.orElse(Selector::open, () -> close(group, generation));
	}

	/** Closes a group's parked connections and those that arrive from now on. */
	void close(String group, long generation) {
		Group ended = new Group(group, generation);
		synchronized (this.closed) {
			this.closed.add(ended);
			if (this.closed.size() > MAX_CLOSED_GROUPS) {
				this.closed.removeFirst();
			}
		}
		this.subscribers.remove(ended);
		this.awaited.keySet().removeIf((hello) -> Group.of(hello).equals(ended));
		this.parked.keySet().stream().filter((hello) -> Group.of(hello).equals(ended)).forEach(this::discard);
	}

	private boolean isClosed(Group group) {
		synchronized (this.closed) {
			return this.closed.contains(group);
		}
	}

	/**
	 * The connection that belongs to a hello, if it has arrived; otherwise the notice is
	 * called when it does.
	 */
	@Nullable TcpStream poll(DataHello hello, Runnable notice) {
		this.awaited.put(hello, notice);
		TcpStream stream = this.parked.remove(hello);
		if (stream != null) {
			this.awaited.remove(hello);
		}
		return stream;
	}

	private void park(DataHello hello, TcpStream stream) {
		TcpStream replaced = this.parked.put(hello, stream);
		if (replaced != null) {
			replaced.close();
		}
		if (isClosed(Group.of(hello)) || !this.acceptor.isOpen()) {
			discard(hello);
			return;
		}
		deliver(hello);
		Runnable notice = this.awaited.remove(hello);
		if (notice != null) {
			notice.run();
		}
	}

	private void deliver(DataHello hello) {
		Subscriber subscriber = this.subscribers.get(Group.of(hello));
		TcpStream stream = (subscriber != null) ? this.parked.remove(hello) : null;
		if (subscriber != null && stream != null) {
			subscriber.arrived(hello.rank(), stream);
		}
	}

	private void discard(DataHello hello) {
		TcpStream unused = this.parked.remove(hello);
		if (unused != null) {
			unused.close();
		}
	}

	/** Closes the port and the parked connections. */
	@Override
	public void close() {
		this.acceptor.close();
		this.parked.keySet().forEach(this::discard);
	}

}
