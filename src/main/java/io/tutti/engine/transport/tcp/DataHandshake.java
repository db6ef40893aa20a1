package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;

import io.tutti.engine.control.SessionKey;
import io.tutti.engine.tls.HandshakeDeadline;

/**
 * How both ends of a data connection prove that they belong to the session: the accepting
 * side sends a nonce, the connecting side its hello and a proof over both, and gets a
 * proof back. Blocking; done before the connection turns non-blocking.
 */
final class DataHandshake {

	private static final int NONCE_BYTES = 32;

	private static final SecureRandom RANDOM = new SecureRandom();

	private final SessionKey key;

	DataHandshake(SessionKey key) {
		this.key = key;
	}

	/**
	 * The connecting side.
	 * @param in input with a timeout, after which the deadline is checked
	 * @param deadline checked while nothing arrives
	 * @throws IOException if the other side refuses or proves nothing
	 */
	void introduce(InputStream in, OutputStream out, DataHello hello, HandshakeDeadline deadline) throws IOException {
		byte[] nonce = read(in, NONCE_BYTES, deadline);
		byte[] words = hello.encode();
		byte[] proof = this.key.prove(join("connect", nonce, words));
		ByteBuffer frame = ByteBuffer.allocate(Short.BYTES + words.length + proof.length);
		frame.putShort((short) words.length).put(words).put(proof);
		out.write(frame.array());
		byte[] answer = read(in, SessionKey.PROOF_BYTES, deadline);
		if (!this.key.proves(join("accept", nonce, words), answer)) {
			throw new IOException("the other side refused the connection or is not of this session");
		}
	}

	private static byte[] read(InputStream in, int count, HandshakeDeadline deadline) throws IOException {
		byte[] bytes = new byte[count];
		int held = 0;
		while (held < count) {
			deadline.check();
			try {
				int got = in.read(bytes, held, count - held);
				if (got < 0) {
					throw new EOFException("the other side closed the connection during the handshake");
				}
				held += got;
			}
			catch (SocketTimeoutException ex) {
				// The deadline decides whether to go on.
			}
		}
		return bytes;
	}

	/**
	 * The accepting side.
	 * @param in input with a timeout, after which the deadline is checked
	 * @param deadline ends the whole handshake, also with a slow client
	 * @throws IOException if the other side proves nothing, sends malformed data or takes
	 * too long
	 */
	DataHello receive(InputStream in, OutputStream out, HandshakeDeadline deadline) throws IOException {
		byte[] nonce = new byte[NONCE_BYTES];
		RANDOM.nextBytes(nonce);
		out.write(nonce);
		int length = ByteBuffer.wrap(read(in, Short.BYTES, deadline)).getShort() & 0xffff;
		if (length > DataHello.MAX_BYTES) {
			throw new IOException("a hello of " + length + " bytes, at most " + DataHello.MAX_BYTES + " are allowed");
		}
		byte[] words = read(in, length, deadline);
		byte[] proof = read(in, SessionKey.PROOF_BYTES, deadline);
		if (!this.key.proves(join("connect", nonce, words), proof)) {
			throw new IOException("the other side did not prove that it belongs to this session");
		}
		DataHello hello = DataHello.decode(words);
		out.write(this.key.prove(join("accept", nonce, words)));
		return hello;
	}

	private static byte[] join(String side, byte[] nonce, byte[] words) {
		byte[] name = side.getBytes(StandardCharsets.US_ASCII);
		byte[] joined = Arrays.copyOf(name, name.length + nonce.length + words.length);
		System.arraycopy(nonce, 0, joined, name.length, nonce.length);
		System.arraycopy(words, 0, joined, name.length + nonce.length, words.length);
		return joined;
	}

}
