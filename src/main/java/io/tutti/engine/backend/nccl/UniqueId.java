package io.tutti.engine.backend.nccl;

import java.security.MessageDigest;
import java.util.Arrays;

/**
 * What the ranks of a communicator have in common: made on one rank, carried to the
 * others, and a secret, since whoever knows it may join.
 */
public final class UniqueId {

	/** How long it is. */
	public static final int BYTES = 128;

	private final byte[] bytes;

	private UniqueId(byte[] bytes) {
		this.bytes = bytes;
	}

	/**
	 * An id that another process made.
	 * @throws IllegalArgumentException if it is not {@value #BYTES} bytes long
	 */
	public static UniqueId fromBytes(byte[] bytes) {
		if (bytes.length != BYTES) {
			throw new IllegalArgumentException("a unique id has " + BYTES + " bytes, got " + bytes.length);
		}
		return new UniqueId(bytes.clone());
	}

	/** The id for another process. */
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

	/** Says nothing of the id. */
	@Override
	public String toString() {
		return "UniqueId[hidden]";
	}

}
