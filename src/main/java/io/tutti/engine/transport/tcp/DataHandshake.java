package io.tutti.engine.transport.tcp;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.security.SecureRandom;
import java.util.Arrays;

import io.tutti.engine.rendezvous.SessionKey;

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
	 * @throws IOException if the other side refuses or proves nothing
	 */
	void introduce(Socket socket, DataHello hello) throws IOException {
		DataInputStream in = new DataInputStream(socket.getInputStream());
		DataOutputStream out = new DataOutputStream(socket.getOutputStream());
		byte[] nonce = in.readNBytes(NONCE_BYTES);
		if (nonce.length < NONCE_BYTES) {
			throw new IOException("the other side closed the connection during the handshake");
		}
		byte[] words = hello.encode();
		byte[] frame = new byte[2 + words.length + SessionKey.PROOF_BYTES];
		frame[0] = (byte) (words.length >> 8);
		frame[1] = (byte) words.length;
		System.arraycopy(words, 0, frame, 2, words.length);
		byte[] proof = this.key.prove(join("connect", nonce, words));
		System.arraycopy(proof, 0, frame, 2 + words.length, proof.length);
		out.write(frame);
		out.flush();
		byte[] answer = in.readNBytes(SessionKey.PROOF_BYTES);
		if (!this.key.proves(join("accept", nonce, words), answer)) {
			throw new IOException("the other side refused the connection or is not of this session");
		}
	}

	/**
	 * The accepting side.
	 * @throws IOException if the other side proves nothing or talks nonsense
	 */
	DataHello receive(Socket socket) throws IOException {
		DataInputStream in = new DataInputStream(socket.getInputStream());
		DataOutputStream out = new DataOutputStream(socket.getOutputStream());
		byte[] nonce = new byte[NONCE_BYTES];
		RANDOM.nextBytes(nonce);
		out.write(nonce);
		out.flush();
		int length = in.readUnsignedShort();
		if (length > DataHello.MAX_BYTES) {
			throw new IOException("a hello of " + length + " bytes, at most " + DataHello.MAX_BYTES + " are allowed");
		}
		byte[] words = new byte[length];
		in.readFully(words);
		byte[] proof = new byte[SessionKey.PROOF_BYTES];
		in.readFully(proof);
		if (!this.key.proves(join("connect", nonce, words), proof)) {
			throw new IOException("the other side did not prove that it belongs to this session");
		}
		DataHello hello = DataHello.decode(words);
		out.write(this.key.prove(join("accept", nonce, words)));
		out.flush();
		return hello;
	}

	private static byte[] join(String side, byte[] nonce, byte[] words) {
		byte[] name = side.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
		byte[] joined = Arrays.copyOf(name, name.length + nonce.length + words.length);
		System.arraycopy(nonce, 0, joined, name.length, nonce.length);
		System.arraycopy(words, 0, joined, name.length + nonce.length, words.length);
		return joined;
	}

}
