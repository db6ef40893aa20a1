package io.tutti.engine.control;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A shared secret and what is proved with it. Its text form hides it.
 */
public final class SessionKey {

	/** Bytes of a proof: HMAC-SHA-256. */
	public static final int PROOF_BYTES = 32;

	private static final String ALGORITHM = "HmacSHA256";

	private final byte[] secret;

	public SessionKey(byte[] secret) {
		if (secret.length == 0) {
			throw new IllegalArgumentException("a session key must not be empty");
		}
		this.secret = secret.clone();
	}

	/** Proof of the secret over some bytes. */
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

	/** Whether the proof is right; takes the same time either way. */
	public boolean proves(byte[] message, byte[] proof) {
		return MessageDigest.isEqual(prove(message), proof);
	}

	@Override
	public String toString() {
		return "SessionKey[hidden]";
	}

}
