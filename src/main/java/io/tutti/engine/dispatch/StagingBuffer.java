package io.tutti.engine.dispatch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory that stands in for heap buffers during a call, since the data path works
 * on addresses. Grows to the largest buffer seen and lives as long as its group.
 */
final class StagingBuffer implements AutoCloseable {

	private static final long ALIGNMENT = 64;

	private Arena arena = Arena.ofShared();

	private MemorySegment memory = MemorySegment.NULL;

	/** Address of at least that many bytes; what they held before is undefined. */
	MemorySegment ofSize(long bytes) {
		if (this.memory.byteSize() < bytes) {
			grow(bytes);
		}
		return this.memory;
	}

	/** What is there stays until there is more: an allocation may fail. */
	private void grow(long bytes) {
		Arena larger = Arena.ofShared();
		try {
			this.memory = larger.allocate(bytes, ALIGNMENT);
		}
		catch (OutOfMemoryError ex) {
			larger.close();
			throw ex;
		}
		this.arena.close();
		this.arena = larger;
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
