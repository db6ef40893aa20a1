package io.tutti.engine.spi;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256, which every JDK has. Compares data and parameters, and detects damaged files.
 */
public final class Sha256 {

	/** Size of a hash in bytes. */
	public static final int BYTES = 32;

	/** A byte buffer has at most 2^31 - 1 bytes. */
	private static final long PIECE_BYTES = 1 << 30;

	private Sha256() {
	}

	public static MessageDigest newDigest() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every JDK has SHA-256", ex);
		}
	}

	/** The hash of some bytes. */
	public static byte[] of(byte[] bytes) {
		return newDigest().digest(bytes);
	}

	/** Adds memory of any size to a digest. */
	public static void update(MessageDigest digest, MemorySegment data) {
		for (long from = 0; from < data.byteSize(); from += PIECE_BYTES) {
			digest.update(data.asSlice(from, Math.min(PIECE_BYTES, data.byteSize() - from)).asByteBuffer());
		}
	}

	public static String hex(MessageDigest digest) {
		return HexFormat.of().formatHex(digest.digest());
	}

}
