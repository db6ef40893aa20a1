package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;

import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between buffers on and off the heap. A place in a heap buffer is the buffer
 * and an offset in it; a place in native memory is {@code null} and an address.
 */
final class HeapTransfer {

	private HeapTransfer() {
	}

	static void copy(@Nullable MemorySegment sourceHeap, long source, @Nullable MemorySegment targetHeap, long target,
			long bytes) {
		if (sourceHeap == null && targetHeap == null) {
			NativeMemory.copy(source, target, bytes);
			return;
		}
		MemorySegment.copy((sourceHeap != null) ? sourceHeap : NativeMemory.ALL, source,
				(targetHeap != null) ? targetHeap : NativeMemory.ALL, target, bytes);
	}

}
