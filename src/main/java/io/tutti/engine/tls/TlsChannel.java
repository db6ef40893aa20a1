package io.tutti.engine.tls;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;

import io.tutti.engine.tls.TlsException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * TLS over one socket that does not block. For one thread at a time.
 * <p>
 * Bytes that {@link #write} accepts have been sent, so there is no flush. In return, the
 * bytes that it has not accepted must be offered again before any others: they may be
 * encrypted already. After the first failure nothing is written, and nothing is read
 * unless only the socket has refused output.
 */
public final class TlsChannel extends PeerSocket {

	/**
	 * Records per system call once the buffers are enlarged. With 8 an all-reduce of 64
	 * MiB takes a sixth less time than with 4; 16 are no faster.
	 */
	private static final int BUFFERED_RECORDS = 8;

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	private final SSLEngine engine;

	private final int recordBytes;

	/** Encrypted input that has not been read, from position to limit. */
	private ByteBuffer in;

	/** Encrypted output that has not been sent, from position to limit. */
	private ByteBuffer out;

	/** Decrypted input that has not been taken. */
	private final ByteBuffer plain;

	/** Number of offered bytes that are in the encrypted output but not yet accepted. */
	private int encryptedBytes;

	private boolean ended;

	private boolean finished;

	private @Nullable IOException inputFailure;

	private @Nullable IOException outputFailure;

	TlsChannel(SocketChannel socket, SSLEngine engine) {
		super(socket);
		this.engine = engine;
		this.recordBytes = engine.getSession().getPacketBufferSize();
		this.in = ByteBuffer.allocate(this.recordBytes).limit(0);
		this.out = ByteBuffer.allocate(this.recordBytes).limit(0);
		this.plain = ByteBuffer.allocate(this.recordBytes).limit(0);
	}

	/**
	 * Does the handshake.
	 * @param deadline checked while the peer does not answer
	 */
	void handshake(HandshakeDeadline deadline) throws IOException {
		socket().setOption(StandardSocketOptions.TCP_NODELAY, true);
		try {
			this.engine.beginHandshake();
			boolean more = true;
			while (more) {
				deadline.check();
				more = step(deadline);
			}
		}
		catch (SSLException ex) {
			sendAlert();
			throw fail(TlsException.of(ex));
		}
	}

	/** One step of the handshake; returns whether another follows. */
	private boolean step(HandshakeDeadline deadline) throws IOException {
		switch (this.engine.getHandshakeStatus()) {
			case FINISHED, NOT_HANDSHAKING -> {
				return false;
			}
			case NEED_WRAP -> {
				SocketWait wait = new SocketWait(deadline);
				wrap();
				while (!send()) {
					wait.pause();
				}
			}
			case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
				SocketWait wait = new SocketWait(deadline);
				while (unwrap(this.plain.clear()) == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
					await(wait);
				}
				this.plain.flip();
			}
			case NEED_TASK -> runTasks();
		}
		return true;
	}

	private void await(SocketWait wait) throws IOException {
		int got = receive();
		if (got == 0) {
			wait.pause();
		}
		if (got < 0) {
			throw new EOFException("it closed the connection during the TLS handshake");
		}
		if (this.in.hasRemaining() && !isTls(this.in.get(this.in.position()))) {
			throw new TlsException(Reason.NOT_TLS, "it does not speak TLS", null);
		}
	}

	/** The types of records: change of cipher, alert, handshake, data. */
	private static boolean isTls(byte first) {
		return first >= 20 && first <= 23;
	}

	/** Sends the alert that states the reason. */
	private void sendAlert() {
		try {
			while (this.engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP
					&& wrap() == SSLEngineResult.Status.OK) {
				runTasks();
			}
		}
		catch (IOException ex) {
			// The peer sees the connection end.
		}
	}

	private void runTasks() {
		for (Runnable task = this.engine.getDelegatedTask(); task != null; task = this.engine.getDelegatedTask()) {
			task.run();
		}
	}

	private SSLEngineResult.Status wrap() throws IOException {
		this.out.clear();
		SSLEngineResult result = this.engine.wrap(NOTHING, this.out);
		this.out.flip();
		send();
		return result.getStatus();
	}

	@Override
	public void enlargeBuffers() {
		this.in = ByteBuffer.allocate(BUFFERED_RECORDS * this.recordBytes).put(this.in).flip();
		this.out = ByteBuffer.allocate(BUFFERED_RECORDS * this.recordBytes).put(this.out).flip();
	}

	@Override
	public boolean hasBufferedInput() {
		return this.plain.hasRemaining() || this.in.hasRemaining();
	}

	/** The negotiated session. */
	SSLSession session() {
		return this.engine.getSession();
	}

	/**
	 * Reads what has arrived, as far as there is room.
	 * @return the number of bytes, 0 if none have arrived, -1 after a TLS close
	 * @throws EOFException if the connection ended without a TLS close
	 */
	@Override
	public int read(ByteBuffer target) throws IOException {
		requireIntact(this.inputFailure);
		int start = target.position();
		take(target);
		try {
			boolean received = false;
			while (target.hasRemaining() && !this.ended) {
				if (decrypt(target)) {
					continue;
				}
				if (received || target.position() > start) {
					// Deliver these bytes first: the connection may have ended after
					// them.
					break;
				}
				received = true;
				int got = receive();
				if (got < 0) {
					throw new EOFException("the connection ended without a TLS close");
				}
				if (got == 0) {
					break;
				}
			}
		}
		catch (IOException ex) {
			throw fail(ex);
		}
		int got = target.position() - start;
		return (got == 0 && this.ended && target.hasRemaining()) ? -1 : got;
	}

	/** Decrypts one record; returns whether there was a whole one. */
	private boolean decrypt(ByteBuffer target) throws IOException {
		SSLEngineResult.Status status = unwrap(target);
		if (status == SSLEngineResult.Status.BUFFER_OVERFLOW) {
			status = unwrap(this.plain.clear());
			this.plain.flip();
			take(target);
		}
		if (status == SSLEngineResult.Status.BUFFER_OVERFLOW) {
			throw new SSLException("a record is larger than TLS allows");
		}
		this.ended = status == SSLEngineResult.Status.CLOSED;
		return status != SSLEngineResult.Status.BUFFER_UNDERFLOW;
	}

	private SSLEngineResult.Status unwrap(ByteBuffer target) throws SSLException {
		SSLEngineResult result = this.engine.unwrap(this.in, target);
		if (result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_TASK) {
			runTasks();
		}
		return result.getStatus();
	}

	private void take(ByteBuffer target) {
		int bytes = Math.min(this.plain.remaining(), target.remaining());
		target.put(target.position(), this.plain, this.plain.position(), bytes);
		target.position(target.position() + bytes);
		this.plain.position(this.plain.position() + bytes);
	}

	private int receive() throws IOException {
		this.in.compact();
		try {
			return socket().read(this.in);
		}
		finally {
			this.in.flip();
		}
	}

	/**
	 * Writes what the socket accepts now.
	 * @return the number of bytes sent; the others must be offered again before any more
	 */
	@Override
	public int write(ByteBuffer source) throws IOException {
		requireIntact(this.outputFailure);
		int start = source.position();
		try {
			while (send()) {
				int sent = Math.min(this.encryptedBytes, source.remaining());
				source.position(source.position() + sent);
				this.encryptedBytes -= sent;
				if (!source.hasRemaining()) {
					break;
				}
				encrypt(source);
			}
		}
		catch (IOException ex) {
			throw failOutput(ex);
		}
		return source.position() - start;
	}

	/** Encrypts as much as there is room for and leaves the source as it was. */
	private void encrypt(ByteBuffer source) throws IOException {
		int start = source.position();
		this.out.clear();
		while (source.hasRemaining() && this.out.remaining() >= this.recordBytes) {
			SSLEngineResult result = this.engine.wrap(source, this.out);
			if (result.getStatus() != SSLEngineResult.Status.OK) {
				throw new SSLException("encryption failed: " + result.getStatus());
			}
			if (result.bytesProduced() == 0) {
				requireProgress(result.getHandshakeStatus());
			}
		}
		this.out.flip();
		this.encryptedBytes = source.position() - start;
		source.position(start);
	}

	/** The engine may update its keys at any time, which takes a step without data. */
	private void requireProgress(SSLEngineResult.HandshakeStatus status) throws SSLException {
		if (status == SSLEngineResult.HandshakeStatus.NEED_TASK) {
			runTasks();
		}
		else if (status != SSLEngineResult.HandshakeStatus.FINISHED) {
			throw new SSLException("the engine makes no progress: " + status);
		}
	}

	/** Sends encrypted bytes that are left; returns whether all are sent. */
	private boolean send() throws IOException {
		while (this.out.hasRemaining()) {
			if (socket().write(this.out) == 0) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Sends the TLS close and ends the output.
	 * @return {@code false} if it must be called again once the socket is writable
	 */
	@Override
	public boolean shutdownOutput() throws IOException {
		requireIntact(this.outputFailure);
		try {
			if (send() && !this.finished) {
				this.finished = true;
				this.engine.closeOutbound();
				wrap();
			}
			if (!send()) {
				return false;
			}
			socket().shutdownOutput();
			return true;
		}
		catch (IOException ex) {
			throw failOutput(ex);
		}
	}

	private static void requireIntact(@Nullable IOException cause) throws IOException {
		if (cause != null) {
			throw new IOException("the connection has failed before: " + cause.getMessage(), cause);
		}
	}

	private IOException fail(IOException ex) {
		IOException cause = (ex instanceof SSLException ssl) ? TlsException.of(ssl) : ex;
		this.inputFailure = cause;
		this.outputFailure = cause;
		return cause;
	}

	/** The peer may have closed its socket after it sent what is still to be read. */
	private IOException failOutput(IOException ex) {
		if (ex instanceof SSLException) {
			return fail(ex);
		}
		this.outputFailure = ex;
		return ex;
	}

}
