package io.tutti.engine.transport.message;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.DataType;
import io.tutti.engine.Message;
import org.jspecify.annotations.Nullable;

/**
 * One send or receive from its call to its end. Used again and again, so that a call
 * allocates nothing.
 */
final class Operation {

	/** Largest message that is sent before anybody has asked for it. */
	static final int EAGER_BYTES = 64 * 1024;

	private static final long ALIGNMENT = 64;

	boolean sends;

	MemorySegment buffer = MemorySegment.NULL;

	DataType type = DataType.INT8;

	/** Rank of the group, or any. */
	int peer;

	int tag;

	long address;

	long bytes;

	/** Names an announced message between two ranks. */
	long id;

	final Stopwatch stopwatch = new Stopwatch();

	@Nullable CompletableFuture<Message> future;

	@Nullable Thread waiter;

	/** Place among the operations that are under way. */
	int place;

	@Nullable Operation next;

	/** What came, of a receive that is done. */
	int source;

	int foundTag;

	long foundBytes;

	@Nullable RuntimeException failure;

	volatile boolean done;

	/** Stands in for a heap buffer. */
	private MemorySegment stage = MemorySegment.NULL;

	void set(boolean sends, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos) {
		this.sends = sends;
		this.buffer = buffer;
		this.type = type;
		this.peer = peer;
		this.tag = tag;
		this.bytes = buffer.byteSize();
		this.address = place(buffer);
		this.stopwatch.reset(timeoutNanos);
		this.failure = null;
		this.done = false;
	}

	private long place(MemorySegment buffer) {
		if (buffer.isNative()) {
			return buffer.address();
		}
		if (this.stage.byteSize() < this.bytes) {
			this.stage = Arena.ofAuto().allocate(this.bytes, ALIGNMENT);
		}
		if (this.sends) {
			MemorySegment.copy(buffer, 0, this.stage, 0, this.bytes);
		}
		return this.stage.address();
	}

	/** Whether a receive takes a message by its source and tag. */
	boolean takes(int from, int with) {
		return (this.peer == from || this.peer == Message.ANY_SOURCE)
				&& (this.tag == with || this.tag == Message.ANY_TAG);
	}

	/** Whether a message fits a receive. */
	boolean fits(DataType sent, long size) {
		return sent == this.type && size <= this.bytes;
	}

	void found(int from, int with, long size) {
		this.source = from;
		this.foundTag = with;
		this.foundBytes = size;
	}

	/** Puts what came where it belongs; outside of any lock. */
	void deliver() {
		if (!this.sends && !this.buffer.isNative() && this.failure == null) {
			MemorySegment.copy(this.stage, 0, this.buffer, 0, this.foundBytes);
		}
	}

	Message message() {
		return this.sends ? new Message(this.peer, this.tag, this.bytes / this.type.bytes())
				: new Message(this.source, this.foundTag, count());
	}

	long count() {
		return this.foundBytes / this.type.bytes();
	}

	/** Holds on to nothing of the caller's. */
	void clear() {
		this.buffer = MemorySegment.NULL;
		this.future = null;
		this.waiter = null;
		this.failure = null;
		this.next = null;
	}

	@Override
	public String toString() {
		String ends = (this.sends ? "send to " : "receive from ")
				+ ((this.peer == Message.ANY_SOURCE) ? "any rank" : "rank " + this.peer);
		return ends + " with " + ((this.tag == Message.ANY_TAG) ? "any tag" : "tag " + this.tag) + " (" + this.bytes
				+ " bytes of " + this.type + ")";
	}

}
