package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.tutti.engine.tls.PeerSocket;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * One data connection after its handshake, plain or over mutual TLS, non-blocking. A
 * plain connection neither copies nor allocates; TLS does both per record.
 */
final class TcpStream implements ByteStream {

	/** Limit of one system call: a larger one only delays the other direction. */
	private static final long CALL_BYTES = 512 * 1024;

	/**
	 * Limit of a write while nothing arrives. During a write the kernel queues the
	 * acknowledgements of the receiver, so that smaller writes are slower.
	 */
	private static final long ONE_WAY_BYTES = 1024 * 1024;

	/** An answer takes about as long as the kernel needs to copy half of it. */
	private static final int EAGER_BYTES = 128 * 1024;

	/** How long a closed connection discards input so that queued output arrives. */
	private static final Duration LINGER = Duration.ofSeconds(2);

	private final PeerSocket socket;

	private final AddressWindows windows = new AddressWindows();

	private @Nullable SelectionKey key;

	private boolean blockedWriting;

	/** Whether bytes have arrived since the last write. */
	private boolean bothWays;

	private boolean ended;

	private long receivedBytes;

	private @Nullable HostProbe probe;

	/** What the probe has found. */
	private @Nullable IOException unreachable;

	TcpStream(PeerSocket socket) {
		this.socket = socket;
	}

	SocketChannel socket() {
		return this.socket.socket();
	}

	/** Adds the connection, which no longer blocks, to a selector. */
	void register(Selector selector) throws IOException {
		this.socket.enlargeBuffers();
		this.key = socket().register(selector, 0);
	}

	@Override
	public int eagerBytes() {
		return EAGER_BYTES;
	}

	@Override
	public long write(long address, long bytes) throws IOException {
		requireReachable();
		long limit = this.bothWays ? CALL_BYTES : ONE_WAY_BYTES;
		this.bothWays = false;
		long written = this.socket.write(this.windows.at(address, Math.min(bytes, limit)));
		this.blockedWriting = written == 0 && bytes > 0;
		return written;
	}

	@Override
	public long read(long address, long bytes) throws IOException {
		if (bytes == 0) {
			return 0;
		}
		try {
			requireReachable();
			int read = this.socket.read(this.windows.at(address, Math.min(bytes, CALL_BYTES)));
			if (read < 0) {
				throw new EOFException("closed by the peer");
			}
			this.bothWays |= read > 0;
			this.receivedBytes += read;
			return read;
		}
		catch (IOException ex) {
			this.ended = true;
			throw ex;
		}
	}

	@Override
	public void endInput() {
		this.ended = true;
	}

	private void requireReachable() throws IOException {
		if (this.unreachable != null) {
			throw this.unreachable;
		}
	}

	/** Lets a probe notice that the host at the other end no longer answers. */
	void watch(HostProbe host) {
		this.probe = host;
	}

	/**
	 * The thread waits for the peer. Once its host no longer answers, the connection
	 * fails.
	 */
	void awaitPeer() {
		try {
			if (this.probe != null) {
				this.probe.check(this.receivedBytes);
			}
		}
		catch (IOException ex) {
			this.unreachable = ex;
		}
	}

	/**
	 * Sleeping waits for input, and for room if the last write found none.
	 */
	void awaitProgress() {
		awaitProgress(!this.ended, this.blockedWriting && !this.ended);
	}

	/** Sleeping waits for input, for room, for both or for neither. */
	void awaitProgress(boolean reading, boolean writing) {
		SelectionKey registered = this.key;
		if (registered != null && registered.isValid()) {
			registered.interestOps((reading ? SelectionKey.OP_READ : 0) | (writing ? SelectionKey.OP_WRITE : 0));
		}
	}

	/** Ends this direction: the peer reads what was written, then the end. */
	void shutdownOutput() {
		try {
			if (!this.socket.shutdownOutput()) {
				socket().shutdownOutput();
			}
		}
		catch (IOException ex) {
			// The connection has failed, so there is nothing to end.
		}
	}

	/**
	 * Ends the output and closes once it has arrived, or after {@link #LINGER}. Returns
	 * at once.
	 */
	void closeAfterDelivery() {
		shutdownOutput();
		Thread.startVirtualThread(() -> this.socket.closeAfterPeer(LINGER));
	}

	/** Closes at once. */
	void close() {
		this.socket.close();
	}

}
