package io.tutti.training.internal;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256, used to compare data and parameters and to detect damaged checkpoints.
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
			throw new IllegalStateException("this JVM lacks SHA-256, which every JVM must have", ex);
		}
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
