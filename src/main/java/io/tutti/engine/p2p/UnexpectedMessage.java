package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.DataType;
import org.jspecify.annotations.Nullable;

/**
 * A message that nobody has asked for yet, or the bytes of one that the network has not
 * taken yet.
 */
final class UnexpectedMessage {

	/** Bytes it has room for; 0 for one that only stands for an announcement. */
	private final MemorySegment memory;

	/** Which pool it came from. */
	final int shelf;

	int source;

	int tag;

	DataType type = DataType.INT8;

	long bytes;

	/** Whether the bytes are still with the sender. */
	boolean announced;

	long id;

	/** Whether all bytes are here. */
	boolean whole;

	/** The receive that waits for the rest of it. */
	@Nullable Operation claimant;

	/** The send that it stands for, where sender and receiver are one. */
	@Nullable Operation own;

	/** What it counts for among the messages that nobody has asked for. */
	long charge;

	@Nullable UnexpectedMessage next;

	UnexpectedMessage(int shelf, long capacity) {
		this.shelf = shelf;
		this.memory = (capacity > 0) ? Arena.ofAuto().allocate(capacity, 64) : MemorySegment.NULL;
	}

	void set(int source, int tag, DataType type, long bytes) {
		this.source = source;
		this.tag = tag;
		this.type = type;
		this.bytes = bytes;
		this.announced = false;
		this.whole = false;
		this.claimant = null;
		this.own = null;
		this.next = null;
	}

	long capacity() {
		return this.memory.byteSize();
	}

	long address() {
		return this.memory.address();
	}

}
