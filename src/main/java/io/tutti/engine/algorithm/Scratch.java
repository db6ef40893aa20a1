package io.tutti.engine.algorithm;

import java.lang.foreign.Arena;

import org.jspecify.annotations.Nullable;

/**
 * Native memory for data that an algorithm must hold outside the caller's buffers. There
 * is one per group, since calls of a group run one at a time. Its size is bounded, so no
 * call needs a second copy of its buffer. Allocated on first use.
 */
public final class Scratch implements AutoCloseable {

	/** Amortises system calls and still fits in the L2 cache. */
	private static final long MINIMUM_BYTES = 256 * 1024;

	private static final long ALIGNMENT = 64;

	private final long bytes;

	/**
	 * Closing one costs a handshake with every thread, so that it is made on first use.
	 */
	private @Nullable Arena arena;

	private long address;

	/** Holds at least two elements of the largest type per rank. */
	public Scratch(int worldSize) {
		this.bytes = Math.max(MINIMUM_BYTES, 2L * Long.BYTES * worldSize);
	}

	/** Start address. */
	public long address() {
		if (this.arena == null) {
			Arena made = Arena.ofShared();
			this.address = made.allocate(this.bytes, ALIGNMENT).address();
			this.arena = made;
		}
		return this.address;
	}

	/** Size in bytes; a multiple of every element size. */
	public long bytes() {
		return this.bytes;
	}

	@Override
	public void close() {
		if (this.arena != null) {
			this.arena.close();
		}
	}

}
