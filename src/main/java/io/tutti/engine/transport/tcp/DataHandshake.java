package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;

import io.tutti.engine.rendezvous.SessionKey;

/**
 * How both ends of a data connection prove that they belong to the session: the accepting
 * side sends a nonce, the connecting side its hello and a proof over both, and gets a
 * proof back. Blocking; done before the connection turns non-blocking.
 */
final class DataHandshake {

	private static final int NONCE_BYTES = 32;

	/** How long the connecting side waits before it looks whether waiting makes sense. */
	private static final int SLICE_MILLIS = 20;

	/** How often within its limit the accepting side looks at the clock in a silence. */
	private static final int LOOKS_PER_LIMIT = 10;

	private static final SecureRandom RANDOM = new SecureRandom();

	private final SessionKey key;

	DataHandshake(SessionKey key) {
		this.key = key;
	}

	/**
	 * The connecting side.
	 * @param patience asked whenever nothing has come for a while
	 * @throws IOException if the other side refuses or proves nothing
	 */
	void introduce(Socket socket, DataHello hello, Patience patience) throws IOException {
		socket.setSoTimeout(SLICE_MILLIS);
		byte[] nonce = read(socket, NONCE_BYTES, patience);
		byte[] words = hello.encode();
		byte[] proof = this.key.prove(join("connect", nonce, words));
		ByteBuffer frame = ByteBuffer.allocate(Short.BYTES + words.length + proof.length);
		frame.putShort((short) words.length).put(words).put(proof);
		socket.getOutputStream().write(frame.array());
		byte[] answer = read(socket, SessionKey.PROOF_BYTES, patience);
		if (!this.key.proves(join("accept", nonce, words), answer)) {
			throw new IOException("the other side refused the connection or is not of this session");
		}
	}

	private static byte[] read(Socket socket, int count, Patience patience) throws IOException {
		byte[] bytes = new byte[count];
		int held = 0;
		while (held < count) {
			patience.check();
			try {
				int got = socket.getInputStream().read(bytes, held, count - held);
				if (got < 0) {
					throw new EOFException("the other side closed the connection during the handshake");
				}
				held += got;
			}
			catch (SocketTimeoutException ex) {
				// Patience decides whether to go on.
			}
		}
		return bytes;
	}

	/**
	 * The accepting side.
	 * @param limit time for the whole of it, however the other side dribbles
	 * @throws IOException if the other side proves nothing, talks nonsense or takes too
	 * long
	 */
	DataHello receive(Socket socket, Duration limit) throws IOException {
		Patience patience = untilOver(limit);
		socket.setSoTimeout((int) limit.dividedBy(LOOKS_PER_LIMIT).toMillis());
		OutputStream out = socket.getOutputStream();
		byte[] nonce = new byte[NONCE_BYTES];
		RANDOM.nextBytes(nonce);
		out.write(nonce);
		int length = ByteBuffer.wrap(read(socket, Short.BYTES, patience)).getShort() & 0xffff;
		if (length > DataHello.MAX_BYTES) {
			throw new IOException("a hello of " + length + " bytes, at most " + DataHello.MAX_BYTES + " are allowed");
		}
		byte[] words = read(socket, length, patience);
		byte[] proof = read(socket, SessionKey.PROOF_BYTES, patience);
		if (!this.key.proves(join("connect", nonce, words), proof)) {
			throw new IOException("the other side did not prove that it belongs to this session");
		}
		DataHello hello = DataHello.decode(words);
		out.write(this.key.prove(join("accept", nonce, words)));
		return hello;
	}

	private static Patience untilOver(Duration limit) {
		long startNanos = System.nanoTime();
		return () -> {
			if (System.nanoTime() - startNanos >= limit.toNanos()) {
				throw new IOException("the handshake took longer than " + limit.toMillis() + " ms");
			}
		};
	}

	/** Whether a wait goes on. */
	interface Patience {

		/**
		 * Returns if it does.
		 * @throws IOException if it has taken too long
		 */
		void check() throws IOException;

	}

	private static byte[] join(String side, byte[] nonce, byte[] words) {
		byte[] name = side.getBytes(StandardCharsets.US_ASCII);
		byte[] joined = Arrays.copyOf(name, name.length + nonce.length + words.length);
		System.arraycopy(nonce, 0, joined, name.length, nonce.length);
		System.arraycopy(words, 0, joined, name.length + nonce.length, words.length);
		return joined;
	}

}
