package io.tutti.engine.elastic;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;

/**
 * An authenticated connection between two members. One thread receives; any thread sends
 * and closes.
 */
final class FormationLink implements AutoCloseable {

	/** Time for a member to take a message; a live one takes it at once. */
	private static final Duration SEND_LIMIT = Duration.ofSeconds(10);

	private final PeerSocket socket;

	FormationLink(PeerSocket socket) {
		this.socket = socket;
	}

	synchronized void send(FormationMessage message) throws IOException {
		Handshake.write(this.socket, FormationMessage.encode(message), HandshakeDeadline.within(SEND_LIMIT));
	}

	/** Sends a message that may be lost together with the connection. */
	void trySend(FormationMessage message) {
		try {
			send(message);
		}
		catch (IOException ex) {
			// The receiving thread handles the end of the connection.
		}
	}

	/**
	 * Receives a message.
	 * @param deadline checked again and again until the message is complete; it may end
	 * the wait
	 * @throws IOException if the connection ends, fails or carries malformed data
	 */
	FormationMessage receive(HandshakeDeadline deadline) throws IOException {
		int length = ByteBuffer.wrap(Handshake.read(this.socket, Integer.BYTES, deadline)).getInt();
		if (length < 1 || length > FormationMessage.MAX_FRAME_BYTES) {
			throw new IOException("a frame must have 1.." + FormationMessage.MAX_FRAME_BYTES + " bytes, got " + length);
		}
		try {
			return FormationMessage.decode(ByteBuffer.wrap(Handshake.read(this.socket, length, deadline)));
		}
		catch (MalformedFrameException ex) {
			throw new IOException(ex);
		}
	}

	@Override
	public void close() {
		this.socket.close();
	}

}
