package io.tutti.engine.bootstrap;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MessageCodec;

/** A scripted rank that sends only the messages of a test. */
final class RawRank implements AutoCloseable {

	/** Longer than a handshake may take, also on a busy machine. */
	private static final Duration LIMIT = Duration.ofSeconds(40);

	final Socket socket;

	private final DataInputStream in;

	RawRank(int port) {
		this(connect(port));
	}

	RawRank(Socket socket) {
		try {
			this.socket = socket;
			this.socket.setSoTimeout(Math.toIntExact(LIMIT.toMillis()));
			this.in = new DataInputStream(this.socket.getInputStream());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Socket connect(int port) {
		long start = System.nanoTime();
		while (true) {
			try {
				return new Socket("127.0.0.1", port);
			}
			catch (IOException ex) {
				if (System.nanoTime() - start > LIMIT.toNanos()) {
					throw new UncheckedIOException(ex);
				}
				Thread.onSpinWait();
			}
		}
	}

	static Hello hello(int rank, int worldSize) {
		return new Hello("job", -1, rank, worldSize, "127.0.0.1", false, 7000, "elsewhere");
	}

	/** Joins as a rank. */
	RawRank join(int rank, int worldSize) {
		try {
			Handshake.ofControl(null).connect(StreamChannel.over(this.socket), hello(rank, worldSize), () -> {
			});
			return this;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void send(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		byte[] bytes = new byte[frame.remaining()];
		frame.get(bytes);
		send(bytes);
	}

	void send(byte[] bytes) {
		try {
			this.socket.getOutputStream().write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The next message of a type. Skips other messages. */
	<T extends ControlMessage> T await(Class<T> type) {
		while (true) {
			ControlMessage message = next();
			if (type.isInstance(message)) {
				return type.cast(message);
			}
		}
	}

	/** Waits for a frame with these bytes. Skips other frames without decoding them. */
	void awaitExactly(ByteBuffer encoded) {
		ByteBuffer payload = encoded.slice(Integer.BYTES, encoded.remaining() - Integer.BYTES);
		while (!payload.equals(ByteBuffer.wrap(frame()))) {
			Thread.onSpinWait();
		}
	}

	private ControlMessage next() {
		try {
			return MessageCodec.decode(ByteBuffer.wrap(frame()));
		}
		catch (MalformedFrameException ex) {
			throw new AssertionError(ex);
		}
	}

	private byte[] frame() {
		try {
			byte[] frame = new byte[this.in.readInt()];
			this.in.readFully(frame);
			return frame;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Whether the peer closes the connection, after any other output. */
	boolean isHungUpOn() {
		try {
			discardInput();
			return true;
		}
		catch (SocketTimeoutException ex) {
			return false;
		}
		catch (IOException ex) {
			return true;
		}
	}

	/**
	 * Whether the peer resets the connection, after any other output. The kernel of a
	 * process that ends closes it instead.
	 */
	boolean isReset() {
		try {
			discardInput();
			return false;
		}
		catch (SocketException ex) {
			return true;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void discardInput() throws IOException {
		this.socket.getInputStream().transferTo(OutputStream.nullOutputStream());
	}

	/** Closes the connection, as a killed process does. */
	void crash() {
		close();
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
