package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Native memory to which NCCL writes a communicator's handle, during the call or later
 * from its own thread.
 */
final class HandleSlot {

	private final MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

	long address() {
		return this.memory.address();
	}

	/** The handle, or 0 until it is written. */
	long handle() {
		return (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(this.memory, 0L);
	}

}
