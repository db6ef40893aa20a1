package io.tutti.engine.control;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A shared secret for HMAC proofs. Redacted in {@link #toString()}.
 */
public final class SessionKey {

	/** Size of a proof in bytes: HMAC-SHA-256. */
	public static final int PROOF_BYTES = 32;

	private static final String ALGORITHM = "HmacSHA256";

	private final byte[] secret;

	public SessionKey(byte[] secret) {
		if (secret.length == 0) {
			throw new IllegalArgumentException("a session key must not be empty");
		}
		this.secret = secret.clone();
	}

	/** Computes the proof of the secret over a message. */
	public byte[] prove(byte[] message) {
		try {
			Mac mac = Mac.getInstance(ALGORITHM);
			mac.init(new SecretKeySpec(this.secret, ALGORITHM));
			return mac.doFinal(message);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("this JVM lacks " + ALGORITHM, ex);
		}
	}

	/** Whether the proof is valid, compared in constant time. */
	public boolean proves(byte[] message, byte[] proof) {
		return MessageDigest.isEqual(prove(message), proof);
	}

	@Override
	public String toString() {
		return "SessionKey[hidden]";
	}

}
