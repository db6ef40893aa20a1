package io.tutti.engine.dispatch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * Native memory that replaces a heap buffer during a call, since the data path uses
 * addresses. Grows to the largest buffer used and lives as long as its group.
 */
final class StagingBuffer implements AutoCloseable {

	private static final long ALIGNMENT = 64;

	/**
	 * Closing one costs a handshake with every thread, so that it is made on first use.
	 */
	private @Nullable Arena arena;

	private MemorySegment memory = MemorySegment.NULL;

	/** Memory of at least that many bytes with undefined content. */
	MemorySegment ofSize(long bytes) {
		if (this.memory.byteSize() < bytes) {
			grow(bytes);
		}
		return this.memory;
	}

	/** Keeps the old memory until the allocation succeeds. */
	private void grow(long bytes) {
		Arena larger = Arena.ofShared();
		try {
			this.memory = larger.allocate(bytes, ALIGNMENT);
		}
		catch (OutOfMemoryError ex) {
			larger.close();
			throw ex;
		}
		close();
		this.arena = larger;
	}

	@Override
	public void close() {
		if (this.arena != null) {
			this.arena.close();
		}
	}

}
