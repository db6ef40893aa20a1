package io.tutti.engine.tls;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import java.util.function.Function;

import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.LocalFaultException;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a peer, plain TCP or TLS over it, which does not block. A handshake
 * waits for it with {@link SocketWait}.
 */
public sealed class PeerSocket implements ByteChannel permits TlsChannel {

	private static final int DISCARD_BYTES = 16 * 1024;

	private final SocketChannel socket;

	/** Plain TCP over a connected socket. */
	public PeerSocket(SocketChannel socket) {
		this.socket = socket;
	}

	/**
	 * Connects to a peer and does the TLS handshake.
	 * @param tls {@code null} for plain TCP
	 * @param deadline checked while the peer does not answer
	 * @throws TlsException if the peer does not use TLS or is not trusted
	 * @throws LocalFaultException if this process can open no socket, or the address is
	 * IPv6 and the JVM has none
	 */
	public static PeerSocket connect(InetSocketAddress address, @Nullable Tls tls, HandshakeDeadline deadline)
			throws IOException {
		SocketChannel socket = open();
		return CleanUp.orElse(() -> {
			establish(socket, address, deadline);
			return (tls != null) ? tls.connect(socket, deadline) : new PeerSocket(socket);
		}, socket::close);
	}

	/**
	 * Does the TLS handshake with a client.
	 * @param socket an accepted socket; the caller closes it on failure
	 * @param tls {@code null} for plain TCP
	 * @param refusal the message for a client whose certificate has a wrong name
	 * @throws TlsException if the client does not use TLS or is not trusted
	 */
	public static PeerSocket accept(SocketChannel socket, @Nullable Tls tls, HandshakeDeadline deadline,
			Function<String, ByteBuffer> refusal) throws IOException {
		socket.configureBlocking(false);
		return (tls != null) ? tls.accept(socket, deadline, refusal) : new PeerSocket(socket);
	}

	private static SocketChannel open() throws LocalFaultException {
		try {
			return SocketChannel.open();
		}
		catch (IOException ex) {
			throw new LocalFaultException("this rank cannot open a socket (" + ex.getMessage()
					+ "); raise its limit of open files (ulimit -n)", ex);
		}
	}

	static void establish(SocketChannel socket, InetSocketAddress address, HandshakeDeadline deadline)
			throws IOException {
		socket.configureBlocking(false);
		begin(socket, address);
		SocketWait wait = new SocketWait(deadline);
		while (!socket.finishConnect()) {
			wait.pause();
		}
		if (socket.getLocalAddress().equals(socket.getRemoteAddress())) {
			throw new ConnectException("connected to itself");
		}
	}

	private static void begin(SocketChannel socket, InetSocketAddress address) throws IOException {
		// The kernel may choose the port that rank 0 is about to bind. Rank 0 must be
		// able to bind it, also while the connection is in TIME_WAIT.
		socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
		InetAddress host = address.getAddress();
		try {
			if (host.isLoopbackAddress() && !host.equals(InetAddress.getLoopbackAddress())) {
				// For 127.0.1.1, the address of some hosts' own names, the kernel would
				// choose 127.0.0.1 as the source; but peers connect to the source
				// address.
				socket.bind(new InetSocketAddress(host, 0));
			}
			socket.connect(address);
		}
		catch (UnsupportedAddressTypeException ex) {
			throw new LocalFaultException(
					"this rank cannot connect to " + host.getHostAddress() + ": its JVM has no IPv6", ex);
		}
	}

	/** The socket. */
	public final SocketChannel socket() {
		return this.socket;
	}

	@Override
	public int read(ByteBuffer target) throws IOException {
		return this.socket.read(target);
	}

	@Override
	public int write(ByteBuffer source) throws IOException {
		return this.socket.write(source);
	}

	/** Whether bytes may be left to read although nothing more arrives. */
	public boolean hasBufferedInput() {
		return false;
	}

	/** Makes room for several records of TLS at once, in either direction. */
	public void enlargeBuffers() {
	}

	/**
	 * Ends the output: the peer reads what was written, then the end.
	 * @return {@code false} if it must be called again once the socket is writable
	 */
	public boolean shutdownOutput() throws IOException {
		this.socket.shutdownOutput();
		return true;
	}

	@Override
	public final boolean isOpen() {
		return this.socket.isOpen();
	}

	/** Closes at once, without a TLS close. */
	@Override
	public final void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			// The descriptor is released in either case.
		}
	}

	/**
	 * Resets the connection, which discards queued output. If it were closed, the peer
	 * would read its end, as from the kernel of a process that has ended.
	 */
	public final void reset() {
		try {
			this.socket.setOption(StandardSocketOptions.SO_LINGER, 0);
		}
		catch (IOException ex) {
			// It is closed already.
		}
		close();
	}

	/**
	 * Closes a connection whose output has ended so that the peer receives all of it:
	 * discards input until the peer ends its side, for at most the limit. The kernel
	 * resets a connection that is closed with unread input, and a reset drops output that
	 * is still queued. Waits for the peer.
	 */
	public final void closeAfterPeer(Duration limit) {
		HandshakeDeadline deadline = HandshakeDeadline.within(limit);
		SocketWait wait = new SocketWait(deadline);
		ByteBuffer discarded = ByteBuffer.allocate(DISCARD_BYTES);
		try (this) {
			for (int read = 0; read >= 0; read = this.socket.read(discarded.clear())) {
				deadline.check();
				if (read == 0) {
					wait.pause();
				}
			}
		}
		catch (IOException ex) {
			// The peer has reset the connection, or is too slow.
		}
	}

}
