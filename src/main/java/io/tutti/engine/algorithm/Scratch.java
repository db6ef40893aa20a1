package io.tutti.engine.algorithm;

import java.lang.foreign.Arena;

/**
 * Native memory for what an algorithm must hold outside the caller's buffers; one per
 * group, since its calls run one at a time, and bounded, so that no call needs a second
 * copy of its buffer. Made on first use.
 */
public final class Scratch implements AutoCloseable {

	/** Several system calls' worth, and at home in the second-level cache. */
	private static final long MINIMUM_BYTES = 256 * 1024;

	private static final long ALIGNMENT = 64;

	private final Arena arena = Arena.ofShared();

	private final long bytes;

	private long address;

	/** Room for at least two elements of the largest type for each rank. */
	public Scratch(int worldSize) {
		this.bytes = Math.max(MINIMUM_BYTES, 2L * Long.BYTES * worldSize);
	}

	/** Where it is. */
	public long address() {
		if (this.address == 0) {
			this.address = this.arena.allocate(this.bytes, ALIGNMENT).address();
		}
		return this.address;
	}

	/** How large it is: whole elements of every type. */
	public long bytes() {
		return this.bytes;
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
