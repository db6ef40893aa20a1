package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import org.jspecify.annotations.Nullable;

/**
 * A pooled buffer: of a message whose receive is not posted yet, of a small send whose
 * caller has returned, or of bytes on their way from the heap.
 */
final class UnexpectedMessage {

	/** Empty where the sender still has the bytes. */
	private final MemorySegment memory;

	int source;

	int tag;

	DataType type = DataType.INT8;

	long bytes;

	/** Whether it was announced by RTS and the sender still has the bytes. */
	boolean announced;

	/** Whether it is charged to the sender's window of eager messages. */
	boolean eager;

	long id;

	/** Refers to an announced message in its sender's memory; 0 if it cannot be read. */
	long reference;

	/** Whether all bytes have arrived. */
	boolean whole;

	/** The receive that waits for the rest of the bytes. */
	@Nullable MessageOperation claimant;

	/** The send to this rank itself whose bytes were not copied. */
	@Nullable MessageOperation own;

	/** Whether it is charged to the budget for unexpected messages. */
	boolean charged;

	@Nullable UnexpectedMessage previous;

	@Nullable UnexpectedMessage next;

	UnexpectedMessage(long capacity) {
		this.memory = (capacity > 0) ? Arena.ofAuto().allocate(capacity, 64) : MemorySegment.NULL;
	}

	void set(int source, int tag, DataType type, long bytes) {
		this.source = source;
		this.tag = tag;
		this.type = type;
		this.bytes = bytes;
		this.announced = false;
		this.eager = false;
		this.whole = false;
	}

	long capacity() {
		return this.memory.byteSize();
	}

	long address() {
		return this.memory.address();
	}

}
