package io.tutti.training.internal;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256, used to compare data and parameters and to detect damaged checkpoints.
 */
public final class Sha256 {

	/** Size of a hash in bytes. */
	public static final int BYTES = 32;

	private Sha256() {
	}

	public static MessageDigest newDigest() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("this JVM lacks SHA-256, which every JVM must have", ex);
		}
	}

	public static String hex(MessageDigest digest) {
		return HexFormat.of().formatHex(digest.digest());
	}

}
