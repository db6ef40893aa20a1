package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between buffers on and off the heap. A place in a heap buffer is the buffer
 * and an offset in it; a place in native memory is {@code null} and an address. Reads
 * into heap buffers share one staging buffer per group, since its bytes are copied at
 * once.
 */
final class HeapTransfer {

	/** Fits the second-level cache; a larger read would save little. */
	private static final int STAGING_BYTES = 256 * 1024;

	private @Nullable MemorySegment staging;

	static void copy(@Nullable MemorySegment sourceHeap, long source, @Nullable MemorySegment targetHeap, long target,
			long bytes) {
		if (sourceHeap == null && targetHeap == null) {
			NativeMemory.copy(source, target, bytes);
			return;
		}
		MemorySegment.copy((sourceHeap != null) ? sourceHeap : NativeMemory.ALL, source,
				(targetHeap != null) ? targetHeap : NativeMemory.ALL, target, bytes);
	}

	/**
	 * Reads as many bytes as are available now, at most the size of the staging buffer.
	 * @return how many, 0 if none
	 */
	long read(ByteStream stream, MemorySegment heap, long offset, long bytes) throws IOException {
		MemorySegment through = this.staging;
		if (through == null) {
			through = Arena.ofAuto().allocate(STAGING_BYTES, 64);
			this.staging = through;
		}
		long got = stream.read(through.address(), Math.min(bytes, STAGING_BYTES));
		copy(null, through.address(), heap, offset, got);
		return got;
	}

}
