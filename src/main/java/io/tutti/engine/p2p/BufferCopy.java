package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;

import io.tutti.engine.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Copies between buffers on and off the heap. A place in a buffer on the heap is the
 * buffer and an offset in it; a place off the heap is {@code null} and an address.
 */
final class BufferCopy {

	private BufferCopy() {
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
