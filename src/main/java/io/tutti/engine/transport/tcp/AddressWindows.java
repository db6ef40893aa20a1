package io.tutti.engine.transport.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * Byte buffers over native memory, which channels require, by address. A buffer covers a
 * whole window of the address space and is cached, so that repeated transfers of the same
 * tensors allocate nothing.
 */
final class AddressWindows {

	private static final int WINDOW_SHIFT = 30;

	private static final long WINDOW_BYTES = 1L << WINDOW_SHIFT;

	private static final int SLOTS = 4;

	private final long[] windows = new long[SLOTS];

	private final @Nullable ByteBuffer[] buffers = new ByteBuffer[SLOTS];

	@SuppressWarnings("restricted")
	private static ByteBuffer over(long window) {
		return MemorySegment.ofAddress(window << WINDOW_SHIFT).reinterpret(WINDOW_BYTES).asByteBuffer();
	}

	/**
	 * A buffer whose remaining bytes start at the address. It has the requested size, or
	 * less at the end of a window.
	 */
	ByteBuffer at(long address, long bytes) {
		long window = address >>> WINDOW_SHIFT;
		int slot = (int) (window % SLOTS);
		ByteBuffer buffer = this.buffers[slot];
		if (buffer == null || this.windows[slot] != window) {
			buffer = over(window);
			this.buffers[slot] = buffer;
			this.windows[slot] = window;
		}
		int start = (int) (address & (WINDOW_BYTES - 1));
		int end = (int) Math.min(WINDOW_BYTES, start + bytes);
		return buffer.limit(end).position(start);
	}

}
