package io.tutti.engine.control;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

import io.tutti.engine.tls.PeerSocket;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives messages over one non-blocking connection. Used by one thread at a
 * time.
 * <p>
 * A failed write ends only the output. Messages that the peer sent before it closed, such
 * as its leave message, can still be read, up to the end of the stream.
 * <p>
 * The peer reads the end of the stream only after {@link #finish()}, or when this process
 * ends. Otherwise {@link #close()} resets the connection.
 */
public final class ControlConnection implements AutoCloseable {

	/** Output to a peer ends when its backlog exceeds this size. */
	static final long MAX_BACKLOG_BYTES = 64L << 20;

	private final int peer;

	private final PeerSocket socket;

	private final FrameAssembler frames = new FrameAssembler();

	private final Deque<ByteBuffer> outbound = new ArrayDeque<>();

	private long backlogBytes;

	private boolean outputEnded;

	private boolean shutdownWhenFlushed;

	/** Whether all messages were written before the output was shut down. */
	private boolean finished;

	private @Nullable SelectionKey key;

	/**
	 * Takes ownership of a connection to an authenticated peer.
	 * @param peer the rank at the other end
	 */
	public ControlConnection(int peer, PeerSocket socket) throws IOException {
		this.peer = peer;
		this.socket = socket;
		channel().setOption(StandardSocketOptions.TCP_NODELAY, true);
	}

	/** The rank at the other end. */
	public int peer() {
		return this.peer;
	}

	private SocketChannel channel() {
		return this.socket.socket();
	}

	/** Registers the connection with a selector, whose key has it as the attachment. */
	void register(Selector selector) throws IOException {
		this.key = channel().register(selector, SelectionKey.OP_READ, this);
		flush();
	}

	public InetSocketAddress local() throws IOException {
		return (InetSocketAddress) channel().getLocalAddress();
	}

	public InetSocketAddress remote() throws IOException {
		return (InetSocketAddress) channel().getRemoteAddress();
	}

	/**
	 * Reads received bytes: from a socket at most one scratch buffer, from TLS all bytes
	 * that it has taken from its socket, since the selector does not report those again.
	 * @return whether the peer may send more
	 */
	boolean fill(ByteBuffer scratch) throws IOException {
		try {
			int read;
			do {
				read = this.socket.read(scratch.clear());
				this.frames.append(scratch.flip());
			}
			while (read == scratch.capacity() && this.socket.hasBufferedInput());
			return read >= 0;
		}
		catch (EOFException ex) {
			// The kernel of a process that was killed ends TLS as it ends plain TCP.
			return false;
		}
	}

	/** The next complete message, or {@code null}. */
	@Nullable ControlMessage next() throws MalformedFrameException {
		ByteBuffer frame = this.frames.next();
		return (frame != null) ? MessageCodec.decode(frame) : null;
	}

	/**
	 * Sends a frame, now or once the socket is writable. Connections may share a frame.
	 * @return whether the backlog is within its limit; otherwise the output has ended
	 */
	boolean send(ByteBuffer frame) {
		if (this.outputEnded || this.shutdownWhenFlushed) {
			return true;
		}
		this.outbound.add(frame.duplicate());
		this.backlogBytes += frame.remaining();
		flush();
		boolean fits = this.backlogBytes <= MAX_BACKLOG_BYTES;
		if (!fits) {
			endWriting();
		}
		return fits;
	}

	/** Writes as many pending bytes as the socket accepts. */
	void flush() {
		try {
			while (!this.outbound.isEmpty()) {
				ByteBuffer frame = this.outbound.getFirst();
				this.backlogBytes -= this.socket.write(frame);
				if (frame.hasRemaining()) {
					break;
				}
				this.outbound.removeFirst();
			}
			if (this.shutdownWhenFlushed && this.outbound.isEmpty() && !this.outputEnded) {
				this.finished = this.socket.shutdownOutput();
				this.outputEnded = this.finished;
			}
		}
		catch (IOException ex) {
			endWriting();
		}
		updateInterest();
	}

	/** Ends the output after the pending frames. */
	void finish() {
		this.shutdownWhenFlushed = true;
		flush();
	}

	@Override
	public void close() {
		if (this.finished) {
			this.socket.close();
			return;
		}
		this.socket.reset();
	}

	private void endWriting() {
		this.outputEnded = true;
		this.outbound.clear();
		this.backlogBytes = 0;
		updateInterest();
	}

	private void updateInterest() {
		SelectionKey current = this.key;
		if (current != null && current.isValid()) {
			boolean idle = this.outbound.isEmpty() && (this.outputEnded || !this.shutdownWhenFlushed);
			int interest = idle ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
			if (current.interestOps() != interest) {
				current.interestOps(interest);
			}
		}
	}

}
