package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * Where bytes for buffers on the heap pass through native memory. They leave it at once,
 * so that one such place does for all messages of a group.
 */
final class HeapStage {

	/** Fits the second-level cache; a larger read would save little. */
	private static final int BYTES = 256 * 1024;

	private @Nullable MemorySegment memory;

	/**
	 * Reads as many bytes as are there now, up to the size of the stage.
	 * @return how many, 0 if none
	 */
	long read(ByteStream wire, MemorySegment heap, long offset, long bytes) throws IOException {
		MemorySegment stage = this.memory;
		if (stage == null) {
			stage = Arena.ofAuto().allocate(BYTES, 64);
			this.memory = stage;
		}
		long got = wire.read(stage.address(), Math.min(bytes, BYTES));
		BufferCopy.copy(null, stage.address(), heap, offset, got);
		return got;
	}

}
