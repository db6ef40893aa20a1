package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Native memory where NCCL writes a communicator's handle, now or, from a thread of its
 * own, later.
 */
final class HandleSlot {

	private final MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

	long address() {
		return this.memory.address();
	}

	/** The handle, 0 while there is none. */
	long handle() {
		return (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(this.memory, 0L);
	}

}
