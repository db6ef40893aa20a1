package io.tutti.engine.control;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

import io.tutti.engine.tls.TlsChannel;
import org.jspecify.annotations.Nullable;

/**
 * Messages over one non-blocking connection; used by one thread at a time.
 * <p>
 * A failed write ends writing only: what the other side said before it went, such as its
 * goodbye, can still be read, and reading then meets the end.
 */
public final class ControlConnection implements AutoCloseable {

	/** A side that leaves more than this unread is given up. */
	private static final long MAX_BACKLOG_BYTES = 64L << 20;

	private final SocketChannel channel;

	/** What the bytes go through: the socket, or TLS over it. */
	private final ByteChannel bytes;

	private final FrameAssembler frames = new FrameAssembler();

	private final Deque<ByteBuffer> outbound = new ArrayDeque<>();

	private long backlogBytes;

	private boolean deaf;

	private boolean shutdownWhenFlushed;

	private @Nullable SelectionKey key;

	/** Takes over a channel that is, or is about to be, connected. */
	public ControlConnection(SocketChannel channel) throws IOException {
		this(channel, channel);
	}

	/** Takes over a connection whose TLS handshake is done. */
	public ControlConnection(TlsChannel secured) throws IOException {
		this(secured.socket(), secured);
	}

	private ControlConnection(SocketChannel channel, ByteChannel bytes) throws IOException {
		this.channel = channel;
		this.bytes = bytes;
		channel.configureBlocking(false);
		channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
	}

	public SocketChannel channel() {
		return this.channel;
	}

	/** Ties the connection to a selector. */
	public void register(SelectionKey key) {
		this.key = key;
		flush();
	}

	/** From now on the other side may send long frames. */
	public void trust() {
		this.frames.trust();
	}

	public InetSocketAddress local() throws IOException {
		return (InetSocketAddress) this.channel.getLocalAddress();
	}

	public InetSocketAddress remote() throws IOException {
		return (InetSocketAddress) this.channel.getRemoteAddress();
	}

	/**
	 * Reads what has come: of a socket at most as much as the scratch buffer holds, of
	 * TLS all that has been taken from its socket, since no selector tells of that again.
	 * @return whether the other side may say more
	 */
	public boolean fill(ByteBuffer scratch) throws IOException {
		int read;
		do {
			read = this.bytes.read(scratch.clear());
			this.frames.append(scratch.flip());
		}
		while (read == scratch.capacity() && this.bytes instanceof TlsChannel tls && tls.holdsBytes());
		return read >= 0;
	}

	/** Whether the other side began as one does who speaks TLS. */
	public boolean heardTls() {
		return this.frames.beginsLikeTls();
	}

	/** The next message that has come whole, or {@code null}. */
	public @Nullable ControlMessage next() throws MalformedFrameException {
		ByteBuffer frame = this.frames.next();
		return (frame != null) ? MessageCodec.decode(frame) : null;
	}

	public void send(ControlMessage message) {
		send(MessageCodec.encode(message));
	}

	/** Sends a frame, now or when there is room; the same frame may go to many. */
	public void send(ByteBuffer frame) {
		if (this.deaf || this.shutdownWhenFlushed) {
			return;
		}
		this.outbound.add(frame.duplicate());
		this.backlogBytes += frame.remaining();
		flush();
		if (this.backlogBytes > MAX_BACKLOG_BYTES) {
			endWriting();
		}
	}

	/** Writes what there is room for. */
	public void flush() {
		try {
			while (!this.outbound.isEmpty()) {
				ByteBuffer frame = this.outbound.getFirst();
				this.backlogBytes -= this.bytes.write(frame);
				if (frame.hasRemaining()) {
					break;
				}
				this.outbound.removeFirst();
			}
			if (this.shutdownWhenFlushed && this.outbound.isEmpty() && !this.deaf) {
				this.deaf = shutdownOutput();
			}
		}
		catch (IOException ex) {
			endWriting();
		}
		updateInterest();
	}

	private boolean shutdownOutput() throws IOException {
		if (this.bytes instanceof TlsChannel tls) {
			return tls.shutdownOutput();
		}
		this.channel.shutdownOutput();
		return true;
	}

	/** Nothing more will be sent: the other side reads the end after what is pending. */
	public void finish() {
		this.shutdownWhenFlushed = true;
		flush();
	}

	/** Whether nothing can be sent any more. */
	public boolean deaf() {
		return this.deaf;
	}

	@Override
	public void close() {
		try {
			this.channel.close();
		}
		catch (IOException ex) {
			// The descriptor is gone either way.
		}
	}

	private void endWriting() {
		this.deaf = true;
		this.outbound.clear();
		this.backlogBytes = 0;
		updateInterest();
	}

	private void updateInterest() {
		SelectionKey current = this.key;
		if (current != null && current.isValid()) {
			boolean idle = this.outbound.isEmpty() && (this.deaf || !this.shutdownWhenFlushed);
			int interest = idle ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
			if (current.interestOps() != interest) {
				current.interestOps(interest);
			}
		}
	}

}
