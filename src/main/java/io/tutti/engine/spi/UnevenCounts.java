package io.tutti.engine.spi;

import org.jspecify.annotations.Nullable;

/**
 * The counts by rank of a call whose parts differ in size. Copied from the caller's
 * arrays into arrays that live as long as the group, to avoid allocation per call.
 */
final class UnevenCounts {

	/** Digest for counts that ranks need not agree on. */
	private static final int NO_AGREEMENT = 1;

	private final int worldSize;

	private long[] send = {};

	private long[] receive = {};

	private boolean used;

	private int digest;

	UnevenCounts(int worldSize) {
		this.worldSize = worldSize;
	}

	/**
	 * Sets a call's counts.
	 * @param send {@code null} for an even call
	 * @param receive {@code null} if every rank passes the same counts
	 */
	void set(long @Nullable [] send, long @Nullable [] receive) {
		this.used = send != null;
		this.digest = 0;
		if (send == null) {
			return;
		}
		if (this.send.length == 0) {
			this.send = new long[this.worldSize];
			this.receive = new long[this.worldSize];
		}
		System.arraycopy(send, 0, this.send, 0, this.worldSize);
		System.arraycopy((receive != null) ? receive : send, 0, this.receive, 0, this.worldSize);
		this.digest = (receive != null) ? NO_AGREEMENT : digest(this.send);
	}

	/** Sets the digest of the sizes of the buffers of an even call. */
	void setSizes(int sizes) {
		this.used = false;
		this.digest = sizes;
	}

	/** Digest of sizes in order; 0 for one buffer, of which ranks compare the count. */
	static int digestOfSizes(long[] bytes) {
		return (bytes.length > 1) ? digest(bytes) : 0;
	}

	/** Never 0, so that an uneven call with equal parts differs from an even call. */
	private static int digest(long[] counts) {
		long hash = 1;
		for (long count : counts) {
			hash = (hash ^ count) * 0x9E37_79B9_7F4A_7C15L;
			hash ^= hash >>> 32;
		}
		return (int) hash | 2;
	}

	boolean used() {
		return this.used;
	}

	int digest() {
		return this.digest;
	}

	long[] send() {
		return this.send;
	}

	long[] receive() {
		return this.receive;
	}

}
