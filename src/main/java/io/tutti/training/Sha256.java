package io.tutti.training;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The one hash that training uses, to compare data and parameters and to find damage.
 */
final class Sha256 {

	/** Bytes of a hash. */
	static final int BYTES = 32;

	private Sha256() {
	}

	static MessageDigest newDigest() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("this JVM lacks SHA-256, which every JVM must have", ex);
		}
	}

	static String hex(MessageDigest digest) {
		return HexFormat.of().formatHex(digest.digest());
	}

}
