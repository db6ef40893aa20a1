package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
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

	/** Takes the connections of one name, whoever makes them. */
	interface Subscriber {

		/**
		 * A connection has come.
		 * @param from the world rank that made it
		 */
		void arrived(int from, DataConnection connection);

	}

	private record Subscription(String name, long generation) {
	}

	private final ServerSocketChannel server;

	private final Map<Subscription, Subscriber> subscribers = new ConcurrentHashMap<>();

	private final Map<DataHello, DataConnection> arrived = new ConcurrentHashMap<>();

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

	/**
	 * The connection that belongs to a hello, if it has come; otherwise the notice is
	 * given when it does.
	 */
	@Nullable DataConnection poll(DataHello hello, Runnable notice) {
		this.awaited.put(hello, notice);
		DataConnection connection = this.arrived.remove(hello);
		if (connection != null) {
			this.awaited.remove(hello);
		}
		return connection;
	}

	/** Has all connections of a name given to a subscriber, also those that have come. */
	void subscribe(String name, long generation, Subscriber subscriber) {
		this.subscribers.put(new Subscription(name, generation), subscriber);
		for (DataHello hello : this.arrived.keySet()) {
			pass(hello);
		}
	}

	/** Has connections of a name wait for the next who asks. */
	void unsubscribe(String name, long generation) {
		this.subscribers.remove(new Subscription(name, generation));
	}

	private void pass(DataHello hello) {
		Subscriber subscriber = this.subscribers.get(new Subscription(hello.group(), hello.generation()));
		DataConnection connection = (subscriber != null) ? this.arrived.remove(hello) : null;
		if (subscriber != null && connection != null) {
			subscriber.arrived(hello.from(), connection);
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
			DataConnection connection = new DataConnection(channel,
					(tls != null) ? tls.accept(channel, patience) : null);
			channel.socket().setSoTimeout((int) this.handshakeLimit.dividedBy(LOOKS_PER_LIMIT).toMillis());
			DataHello hello = handshake.receive(connection.input(), connection.output(), patience);
			if (hello.to() != worldRank) {
				throw new IOException("connection for rank " + hello.to() + " reached rank " + worldRank);
			}
			this.arrived.put(hello, connection);
			pass(hello);
			Runnable notice = this.awaited.remove(hello);
			if (notice != null) {
				notice.run();
			}
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
		this.arrived.values().forEach(DataConnection::close);
		this.arrived.clear();
	}

}
