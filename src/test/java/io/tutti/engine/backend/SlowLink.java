package io.tutti.engine.backend;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * A bidirectional TCP proxy limited to about one megabyte per second. It listens on the
 * same port as its target, at another loopback address.
 */
final class SlowLink implements AutoCloseable {

	/** The address on which it listens. */
	static final String ADDRESS = "127.0.0.2";

	private static final int PIECE_BYTES = 16 * 1024;

	private static final long PIECE_NANOS = 16_000_000;

	private final ServerSocket server = new ServerSocket();

	private final List<Socket> sockets = new CopyOnWriteArrayList<>();

	SlowLink(int port) throws IOException {
		this.server.setReceiveBufferSize(PIECE_BYTES);
		this.server.bind(new InetSocketAddress(ADDRESS, port));
		Thread.startVirtualThread(this::accept);
	}

	private void accept() {
		try {
			while (true) {
				Socket near = this.server.accept();
				this.sockets.add(near);
				Socket far = new Socket();
				this.sockets.add(far);
				far.setReceiveBufferSize(PIECE_BYTES);
				far.setSendBufferSize(PIECE_BYTES);
				near.setSendBufferSize(PIECE_BYTES);
				far.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), this.server.getLocalPort()));
				Thread.startVirtualThread(() -> pass(near, far));
				Thread.startVirtualThread(() -> pass(far, near));
			}
		}
		catch (IOException ex) {
			// The proxy was closed.
		}
	}

	private static void pass(Socket from, Socket to) {
		byte[] piece = new byte[PIECE_BYTES];
		try (from; to) {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			int got = in.read(piece);
			while (got >= 0) {
				out.write(piece, 0, got);
				LockSupport.parkNanos(PIECE_NANOS * got / PIECE_BYTES);
				got = in.read(piece);
			}
		}
		catch (IOException ex) {
			// One side has closed the connection.
		}
	}

	@Override
	public void close() throws IOException {
		this.server.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

}
