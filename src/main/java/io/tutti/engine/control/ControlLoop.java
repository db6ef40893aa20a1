package io.tutti.engine.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Pong;
import io.tutti.engine.spi.CleanUp;

/**
 * The control thread of a process, with its connections and their heartbeats. It blocks
 * only in its selector, which waits for connections, tasks from other threads and timers.
 */
public final class ControlLoop {

	/** Decides what messages, failures and timers mean. Called on the control thread. */
	public interface Work {

		/** A peer has sent a message other than a heartbeat. */
		void receive(int peer, ControlMessage message) throws MalformedFrameException;

		/**
		 * The connection to a peer has failed or ended, and is closed now.
		 * @param ended whether the peer's side has ended in order, as its kernel does
		 * when the process ends
		 */
		void disconnected(int peer, boolean ended, String detail);

		/** A peer has been silent for too long. Its connection is open. */
		void silent(int peer, String detail);

		/** Heartbeats have been sent. */
		default void beat(long nowNanos) {
		}

		/** All tasks and received messages have been handled. */
		default void tick() {
		}

		/** Nanoseconds until {@link #tick()} is due. */
		default long nanosUntilDue() {
			return Long.MAX_VALUE;
		}

		/** The thread ends, in order or by an error. All connections are closed. */
		void ended();

	}

	/** Time for pending messages to reach the peers when this process leaves. */
	private static final Duration LINGER = Duration.ofSeconds(2);

	private static final int SCRATCH_BYTES = 64 << 10;

	private final String name;

	private final PeerTable peers;

	private final ControlListener events;

	private final Heartbeats heartbeats;

	private final Selector selector;

	/** The connection of each peer that has one. */
	private final Map<Integer, ControlConnection> connections = new TreeMap<>();

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

	private final Work work;

	private volatile Thread thread = Thread.currentThread();

	private boolean finishing;

	private long finishByNanos;

	/**
	 * @param peers learns when each peer was last heard
	 * @param events supplies the progress to send with heartbeats
	 * @param silenceLimit silence after which a peer counts as lost
	 */
	public ControlLoop(String name, PeerTable peers, ControlListener events, Duration silenceLimit, Work work)
			throws IOException {
		this.name = name;
		this.peers = peers;
		this.events = events;
		this.heartbeats = new Heartbeats(silenceLimit, System.nanoTime());
		this.selector = Selector.open();
		this.work = work;
	}

	/** Starts the thread. */
	public void start() {
		this.thread = Thread.ofPlatform().name(this.name).daemon().unstarted(this::run);
		this.thread.start();
	}

	/** Queues a task for the control thread. It never runs if the thread has ended. */
	public void execute(Runnable task) {
		this.tasks.add(task);
		this.selector.wakeup();
	}

	/** Waits for the thread to end, unless it is the caller. An interrupt stays set. */
	public void join() {
		if (Thread.currentThread() == this.thread) {
			return;
		}
		try {
			this.thread.join(LINGER.plusSeconds(1));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	// For the control thread, and for the owner before the start

	/** Adds a connection and reads what TLS may already have taken from its socket. */
	public void add(ControlConnection connection) throws IOException {
		connection.register(this.selector);
		this.connections.put(connection.peer(), connection);
		this.tasks.add(() -> read(connection));
	}

	/** Sends a message, if the peer is connected. */
	public void send(int peer, ControlMessage message) {
		ControlConnection connection = this.connections.get(peer);
		if (connection != null) {
			send(connection, MessageCodec.encode(message));
		}
	}

	/** Sends a message to every connected peer. */
	public void broadcast(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		this.connections.values().forEach((connection) -> send(connection, frame));
	}

	private void send(ControlConnection connection, ByteBuffer frame) {
		if (!connection.send(frame)) {
			this.events.warn("rank " + connection.peer() + " does not read its control connection: more than "
					+ (ControlConnection.MAX_BACKLOG_BYTES >> 20)
					+ " MiB wait for it. It receives nothing more. Check whether its process is stopped");
		}
	}

	/** Closes the connection of a peer, and reports it as disconnected. */
	public void drop(int peer, String detail) {
		ControlConnection connection = this.connections.get(peer);
		if (connection != null) {
			disconnected(connection, false, detail);
		}
	}

	/**
	 * Ends the output to a peer after the pending messages, and ignores what it does
	 * later.
	 */
	public void dismiss(int peer) {
		ControlConnection connection = this.connections.remove(peer);
		if (connection != null) {
			connection.finish();
		}
	}

	/**
	 * Ends the output to every peer after the pending messages, and the thread when all
	 * peers have left, or after {@link #LINGER}.
	 */
	public void finish() {
		this.connections.values().forEach(ControlConnection::finish);
		stopAfter(LINGER);
	}

	/** Ends the thread after its current iteration. */
	public void stop() {
		stopAfter(Duration.ZERO);
	}

	private void stopAfter(Duration delay) {
		long byNanos = System.nanoTime() + delay.toNanos();
		if (!this.finishing || byNanos - this.finishByNanos < 0) {
			this.finishByNanos = byNanos;
		}
		this.finishing = true;
	}

	/** Whether this process was stopped and resumed within the silence limit. */
	public boolean pausedLately() {
		return this.heartbeats.pausedLately(System.nanoTime());
	}

	private void run() {
		try (Selector open = this.selector) {
			try {
				while (!hasFinished()) {
					select();
					this.heartbeats.awake(System.nanoTime());
					runTasks();
					open.selectedKeys().forEach(this::ready);
					open.selectedKeys().clear();
					this.work.tick();
					beat();
				}
			}
			finally {
				open.keys().forEach((key) -> connectionOf(key).close());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(this.name + ": the selector failed", ex);
		}
		finally {
			this.work.ended();
		}
	}

	private boolean hasFinished() {
		return this.finishing
				&& (nanosUntilStop() <= 0 || this.connections.keySet().stream().noneMatch(this.peers::isUp));
	}

	private long nanosUntilStop() {
		return this.finishing ? this.finishByNanos - System.nanoTime() : Long.MAX_VALUE;
	}

	private void select() throws IOException {
		long nanos = Math.min(Math.min(this.work.nanosUntilDue(), nanosUntilStop()),
				this.heartbeats.nanosUntilBeat(System.nanoTime()));
		if (nanos <= 0 || !this.tasks.isEmpty()) {
			this.selector.selectNow();
			return;
		}
		this.selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
	}

	private void runTasks() {
		for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
			task.run();
		}
	}

	private static ControlConnection connectionOf(SelectionKey key) {
		return (ControlConnection) key.attachment();
	}

	private void ready(SelectionKey key) {
		if (key.isValid() && key.isReadable()) {
			read(connectionOf(key));
		}
		if (key.isValid() && key.isWritable()) {
			connectionOf(key).flush();
		}
	}

	private void read(ControlConnection connection) {
		try {
			boolean open = connection.fill(this.scratch);
			this.peers.received(connection.peer());
			for (var message = connection.next(); message != null; message = connection.next()) {
				if (this.connections.get(connection.peer()) == connection) {
					receive(connection, message);
				}
			}
			if (!open) {
				disconnected(connection, true, "its connection closed");
			}
		}
		catch (MalformedFrameException ex) {
			disconnected(connection, false, "it sent a malformed message: " + ex.getMessage());
		}
		catch (IOException ex) {
			disconnected(connection, false, "its connection failed: " + CleanUp.message(ex));
		}
	}

	private void disconnected(ControlConnection connection, boolean ended, String detail) {
		connection.close();
		if (this.connections.remove(connection.peer(), connection)) {
			this.work.disconnected(connection.peer(), ended, detail);
		}
	}

	private void receive(ControlConnection from, ControlMessage message) throws MalformedFrameException {
		switch (message) {
			case Ping(long sent) -> send(from, MessageCodec.encode(new Pong(sent, this.events.progress())));
			case Pong(long sent, List<RankProgress> progress) -> {
				this.peers.roundTrip(from.peer(), System.nanoTime() - sent);
				this.peers.progress(from.peer(), progress);
			}
			default -> this.work.receive(from.peer(), message);
		}
	}

	private void beat() {
		long now = System.nanoTime();
		if (this.heartbeats.beat(now)) {
			ByteBuffer ping = MessageCodec.encode(new Ping(now));
			List.copyOf(this.connections.values()).forEach((connection) -> beat(connection, ping, now));
			this.work.beat(now);
		}
	}

	private void beat(ControlConnection connection, ByteBuffer ping, long now) {
		int peer = connection.peer();
		if (!this.peers.isUp(peer)) {
			return;
		}
		if (this.heartbeats.silent(this.peers.lastReceivedNanos(peer), now)) {
			this.work.silent(peer, this.heartbeats.describeSilence());
		}
		else {
			send(connection, ping);
		}
	}

}
