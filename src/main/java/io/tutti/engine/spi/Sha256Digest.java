package io.tutti.engine.spi;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * SHA-256, which every JDK has.
 */
public final class Sha256Digest {

	private Sha256Digest() {
	}

	/** The digest of some bytes: 32 bytes. */
	public static byte[] of(byte[] bytes) {
		try {
			return MessageDigest.getInstance("SHA-256").digest(bytes);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every JDK has SHA-256", ex);
		}
	}

}
