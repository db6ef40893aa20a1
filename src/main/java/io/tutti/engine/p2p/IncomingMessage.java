package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import org.jspecify.annotations.Nullable;

/**
 * A message that arrives, from its frame until it is received. Pooled by the size of its
 * buffer, which has no bytes where the message goes straight to its receive or stays with
 * its sender. The buffer alone also serves small sends whose callers have returned, and
 * bytes on their way from the heap.
 */
final class IncomingMessage {

	private final MemorySegment memory;

	/** Whether it returns to the pool; otherwise it stays with its connection. */
	final boolean pooled;

	/** Size of the buffer in bytes. */
	final long capacity;

	/** Address of the buffer. */
	final long address;

	int source;

	int tag;

	DataType type = DataType.INT8;

	long bytes;

	/** Whether it was announced by RTS and the sender still has the bytes. */
	boolean announced;

	/** Whether it is charged to the sender's window of eager messages. */
	boolean eager;

	/** Number of the transfer between two ranks in the rendezvous protocol. */
	long id;

	/** Refers to an announced message in its sender's memory; 0 if it is not read. */
	long reference;

	/** Bytes that were read there. */
	long readBytes;

	/** When its receive has matched an announced message. */
	long matchedNanos;

	/** Whether all bytes have arrived. */
	boolean whole;

	/** The receive that waits for the bytes. */
	@Nullable MessageOperation claimant;

	/** Whether they go to its buffer. */
	boolean direct;

	/** The send to this rank itself whose bytes were not copied. */
	@Nullable MessageOperation own;

	/** Whether it is charged to the budget for unexpected messages. */
	boolean charged;

	@Nullable IncomingMessage previous;

	@Nullable IncomingMessage next;

	IncomingMessage(long capacity, boolean pooled) {
		this.memory = (capacity > 0) ? Arena.ofAuto().allocate(capacity, 64) : MemorySegment.NULL;
		this.pooled = pooled;
		this.capacity = capacity;
		this.address = this.memory.address();
	}

	void set(int source, int tag, DataType type, long bytes) {
		this.source = source;
		this.tag = tag;
		this.type = type;
		this.bytes = bytes;
		this.announced = false;
		this.eager = false;
		this.readBytes = 0;
		this.whole = false;
		this.direct = false;
	}

	/** Lets the bytes go to the buffer of a receive. */
	void receiveInto(MessageOperation receive) {
		receive.matched(this.source, this.tag, this.bytes);
		this.claimant = receive;
		this.direct = true;
	}

	/** The receive to whose buffer the bytes go; {@code null} if they are buffered. */
	@Nullable MessageOperation receiver() {
		return this.direct ? this.claimant : null;
	}

}
