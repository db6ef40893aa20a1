package io.tutti.engine.backend.nccl;

import java.security.MessageDigest;
import java.util.Arrays;

/**
 * Identifies a communicator: created on one rank and sent to the others. It is a secret,
 * because any process that knows it can join.
 */
public final class UniqueId {

	/** Length of an id. */
	public static final int BYTES = 128;

	private final byte[] bytes;

	private UniqueId(byte[] bytes) {
		this.bytes = bytes;
	}

	/**
	 * Decodes an id from another process.
	 * @param bytes the 128 bytes of {@link #asBytes()}
	 * @return the id
	 * @throws IllegalArgumentException if it is not {@value #BYTES} bytes long
	 */
	public static UniqueId fromBytes(byte[] bytes) {
		if (bytes.length != BYTES) {
			throw new IllegalArgumentException("a unique id has " + BYTES + " bytes, got " + bytes.length);
		}
		return new UniqueId(bytes.clone());
	}

	/**
	 * Encodes the id for another process.
	 * @return 128 bytes
	 */
	public byte[] asBytes() {
		return this.bytes.clone();
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof UniqueId id && MessageDigest.isEqual(this.bytes, id.bytes);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.bytes);
	}

	/** Redacted. */
	@Override
	public String toString() {
		return "UniqueId[hidden]";
	}

}
