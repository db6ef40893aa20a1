package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.DataType;
import io.tutti.engine.Message;
import io.tutti.engine.transport.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * One send or receive from its call to its end. Used again and again, so that a call
 * allocates nothing.
 */
final class Operation {

	/** Largest message that is sent before anybody has asked for it. */
	static final int EAGER_BYTES = 64 * 1024;

	boolean sends;

	MemorySegment buffer = MemorySegment.NULL;

	DataType type = DataType.INT8;

	/** Rank of the group, or any. */
	int peer;

	int tag;

	/** The buffer if it is on the heap; the address is an offset in it then. */
	@Nullable MemorySegment heap;

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

	/** Bytes that had moved at the last look, and when that look first saw so many. */
	private long seenBytes;

	private long seenNanos;

	@Nullable RuntimeException failure;

	volatile boolean done;

	void set(boolean sends, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos) {
		this.sends = sends;
		this.buffer = buffer;
		this.type = type;
		this.peer = peer;
		this.tag = tag;
		this.bytes = buffer.byteSize();
		this.heap = buffer.isNative() ? null : buffer;
		this.address = buffer.isNative() ? buffer.address() : 0;
		this.stopwatch.reset(timeoutNanos);
		this.failure = null;
		this.seenBytes = 0;
		this.done = false;
	}

	/** Whether a receive takes a message by its source and tag. */
	boolean takes(int from, int with) {
		return (this.peer == from || this.peer == Message.ANY_SOURCE)
				&& (this.tag == with || this.tag == Message.ANY_TAG);
	}

	/** Whether a message fits a receive, whose buffer is still there. */
	boolean fits(DataType sent, long size) {
		return sent == this.type && size <= this.bytes && !bufferClosed();
	}

	/** Whether the caller has closed the buffer, which nothing may touch any more. */
	boolean bufferClosed() {
		return !this.buffer.scope().isAlive();
	}

	/**
	 * Checks that there is a buffer to move bytes from or to. The peer counts on them, so
	 * without it this is the end of the connection, as where the kernel finds out first.
	 */
	void requireOpenBuffer() throws IOException {
		if (bufferClosed()) {
			throw new IOException("the buffer of a " + this + " was closed");
		}
	}

	void found(int from, int with, long size) {
		this.source = from;
		this.foundTag = with;
		this.foundBytes = size;
	}

	/** Looks at how many bytes have moved. */
	void see(long movedBytes, long now) {
		if (movedBytes != this.seenBytes) {
			this.seenBytes = movedBytes;
			this.seenNanos = now;
		}
	}

	/** The bytes that have moved, in words; nothing if none have. */
	String progress(long now) {
		if (this.seenBytes == 0) {
			return "";
		}
		long all = this.sends ? this.bytes : this.foundBytes;
		return ": " + Waiting.describe(this.seenBytes + " of " + all + " bytes so far", now - this.seenNanos);
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
		this.heap = null;
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
