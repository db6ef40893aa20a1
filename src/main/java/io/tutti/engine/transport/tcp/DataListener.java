package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.control.SessionKey;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * Accepts this process's data connections, for all its groups, on a thread of its own.
 * Opened before the ranks meet, since its port is part of what a rank says there;
 * connections are let in once the session's key is known. What does not prove the key is
 * closed and forgotten.
 */
public final class DataListener implements AutoCloseable {

	/** Time for one handshake; a stranger that dribbles gets no more than that. */
	private static final Duration HANDSHAKE_LIMIT = Duration.ofSeconds(10);

	/** How often within its limit a handshake looks at the clock in a silence. */
	private static final int LOOKS_PER_LIMIT = 10;

	/** Handshakes at once; more wait in the kernel's queue. */
	private static final int MAX_HANDSHAKES = 512;

	/** How long the loop rests when the system has no descriptor left. */
	private static final Duration BREATH = Duration.ofMillis(50);

	private static final int BACKLOG = 1024;

	/** A late connection to a group that was closed longer ago stays parked. */
	private static final int MAX_CLOSED_GROUPS = 4096;

	/** Takes the connections of one name, whoever makes them. */
	interface Subscriber {

		/**
		 * A connection has come.
		 * @param from the world rank that made it
		 */
		void arrived(int from, TcpStream stream);

	}

	private record Group(String name, long generation) {

		static Group of(DataHello hello) {
			return new Group(hello.group(), hello.generation());
		}

	}

	private final ServerSocketChannel server;

	private final Map<Group, Subscriber> subscribers = new ConcurrentHashMap<>();

	/** Connections that no group of this rank has asked for yet. */
	private final Map<DataHello, TcpStream> parked = new ConcurrentHashMap<>();

	/** The groups that this rank has closed last, oldest first. */
	private final SequencedSet<Group> closed = new LinkedHashSet<>();

	private final Map<DataHello, Runnable> awaited = new ConcurrentHashMap<>();

	private final HandshakeLimiter antechamber;

	private final Duration handshakeLimit;

	private DataListener(ServerSocketChannel server, int mostHandshakes, Duration handshakeLimit) {
		this.server = server;
		this.antechamber = new HandshakeLimiter(mostHandshakes, handshakeLimit);
		this.handshakeLimit = handshakeLimit;
	}

	/**
	 * Binds the port.
	 * @param address where to listen, {@code null} for every address
	 * @param port port, 0 for the kernel's choice
	 */
	public static DataListener open(@Nullable InetAddress address, int port) throws IOException {
		return open(address, port, MAX_HANDSHAKES, HANDSHAKE_LIMIT);
	}

	static DataListener open(@Nullable InetAddress address, int port, int mostHandshakes, Duration handshakeLimit)
			throws IOException {
		ServerSocketChannel server = ServerSocketChannel.open();
		try {
			server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
			server.bind(new InetSocketAddress(address, port), BACKLOG);
		}
		catch (IOException ex) {
			server.close();
			throw new IOException("cannot listen for data connections "
					+ ((address != null) ? "at " + address.getHostAddress() + ", " : "on ") + "port " + port + ": "
					+ ex.getMessage(), ex);
		}
		return new DataListener(server, mostHandshakes, handshakeLimit);
	}

	/** The port that was bound. */
	public int port() {
		return this.server.socket().getLocalPort();
	}

	/**
	 * Lets connections in.
	 * @param tls how they go in cipher, {@code null} if they go as they are
	 */
	public void start(int worldRank, SessionKey key, @Nullable Tls tls) {
		DataHandshake handshake = new DataHandshake(key);
		Thread.ofPlatform()
			.name("tutti-r" + worldRank + "-accept")
			.daemon()
			.start(() -> accept(worldRank, handshake, tls));
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
		if (isClosed(Group.of(hello)) || !this.server.isOpen()) {
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
			subscriber.arrived(hello.from(), stream);
		}
	}

	private void discard(DataHello hello) {
		TcpStream unused = this.parked.remove(hello);
		if (unused != null) {
			unused.close();
		}
	}

	private void accept(int worldRank, DataHandshake handshake, @Nullable Tls tls) {
		while (this.server.isOpen()) {
			try {
				this.antechamber.awaitRoom();
				SocketChannel channel = this.server.accept();
				this.antechamber.enter(channel);
				Thread.ofVirtual().start(() -> admit(worldRank, handshake, tls, channel));
			}
			catch (ClosedChannelException ex) {
				return;
			}
			catch (IOException ex) {
				// Out of descriptors, most likely: a stranger gives one back, and calls
				// wait.
				this.antechamber.hangUpOnFirst();
				LockSupport.parkNanos(BREATH.toNanos());
			}
			catch (InterruptedException ex) {
				return;
			}
		}
	}

	private void admit(int worldRank, DataHandshake handshake, @Nullable Tls tls, SocketChannel channel) {
		try {
			HandshakeDeadline patience = untilOver(this.handshakeLimit);
			TcpStream stream = new TcpStream(channel, (tls != null) ? tls.accept(channel, patience) : null);
			channel.socket().setSoTimeout((int) this.handshakeLimit.dividedBy(LOOKS_PER_LIMIT).toMillis());
			DataHello hello = handshake.receive(stream.input(), stream.output(), patience);
			if (hello.to() != worldRank) {
				throw new IOException("connection for rank " + hello.to() + " reached rank " + worldRank);
			}
			park(hello, stream);
		}
		catch (IOException ex) {
			HandshakeLimiter.close(channel);
		}
		finally {
			this.antechamber.leave(channel);
		}
	}

	private static HandshakeDeadline untilOver(Duration limit) {
		long startNanos = System.nanoTime();
		return () -> {
			if (System.nanoTime() - startNanos >= limit.toNanos()) {
				throw new IOException("the handshake took longer than " + limit.toMillis() + " ms");
			}
		};
	}

	/** Stops listening and closes connections that nobody has taken. */
	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			// The port is given back by the end of the process at the latest.
		}
		this.parked.keySet().forEach(this::discard);
	}

}
