package io.tutti.engine.bootstrap;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Proofs by either side that it knows the job's token, and the keys derived from the
 * token. The token is never sent. A job without a token uses a well-known key: the steps
 * are the same, and a side with a token detects a side without.
 */
final class HandshakeProof {

	private static final byte[] NO_TOKEN = ascii("tutti: this job has no token");

	private static final byte[] FROM_RANK = ascii("tutti: a rank proves itself");

	private static final byte[] FROM_RANK_ZERO = ascii("tutti: rank 0 proves itself");

	private static final byte[] SESSION = ascii("tutti: session key");

	private final SessionKey key;

	private final SecureRandom random = new SecureRandom();

	HandshakeProof(@Nullable String token) {
		this.key = new SessionKey((token != null) ? token.getBytes(StandardCharsets.UTF_8) : NO_TOKEN);
	}

	byte[] nonce() {
		byte[] nonce = new byte[MessageCodec.NONCE_BYTES];
		this.random.nextBytes(nonce);
		return nonce;
	}

	byte[] ofRank(Hello hello, byte[] challenge) {
		return this.key.prove(rankMessage(hello, challenge));
	}

	boolean isOfRank(Hello hello, byte[] challenge, byte[] proof) {
		return this.key.proves(rankMessage(hello, challenge), proof);
	}

	byte[] ofRankZero(Hello hello, byte[] challenge, long generation) {
		return this.key.prove(rankZeroMessage(hello, challenge, generation));
	}

	boolean isOfRankZero(Hello hello, byte[] challenge, long generation, byte[] proof) {
		return this.key.proves(rankZeroMessage(hello, challenge, generation), proof);
	}

	/** The session key that every rank derives from rank 0's nonce. */
	SessionKey session(byte[] keyNonce) {
		return new SessionKey(this.key.prove(join(SESSION, ByteBuffer.wrap(keyNonce), new byte[0])));
	}

	/**
	 * The hello holds the rank's nonce, so both sides' random bytes are in each proof.
	 */
	private static byte[] rankMessage(Hello hello, byte[] challenge) {
		return join(FROM_RANK, MessageCodec.encode(hello), challenge);
	}

	private static byte[] rankZeroMessage(Hello hello, byte[] challenge, long generation) {
		byte[] tail = ByteBuffer.allocate(challenge.length + Long.BYTES).put(challenge).putLong(generation).array();
		return join(FROM_RANK_ZERO, MessageCodec.encode(hello), tail);
	}

	private static byte[] join(byte[] head, ByteBuffer middle, byte[] tail) {
		return ByteBuffer.allocate(head.length + middle.remaining() + tail.length)
			.put(head)
			.put(middle)
			.put(tail)
			.array();
	}

	private static byte[] ascii(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
