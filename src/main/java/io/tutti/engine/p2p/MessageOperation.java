package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.transport.CallWait;
import org.jspecify.annotations.Nullable;

/**
 * One send or receive from its call to its end. Pooled, so that a call allocates nothing.
 */
final class MessageOperation {

	/** Largest message that is sent before its receiver asks for it. */
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

	/** Number of the transfer between two ranks in the rendezvous protocol. */
	long id;

	@Nullable CompletableFuture<Message> future;

	@Nullable Thread waiter;

	/** Waits for it; made by the first synchronous call that waits. */
	@Nullable BlockingProgress blocking;

	/** Index among the operations in flight. */
	int place;

	/** What a receive was matched with. */
	int source;

	int foundTag;

	long foundBytes;

	@Nullable RuntimeException failure;

	volatile boolean done;

	private long timeoutNanos;

	/** When the time was first asked for: a message that need not wait reads no clock. */
	private long startNanos;

	private boolean started;

	/** Bytes that had moved at the last check, and when it first saw so many. */
	private long seenBytes;

	private long seenNanos;

	void set(boolean sends, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos) {
		this.sends = sends;
		this.buffer = buffer;
		this.type = type;
		this.peer = peer;
		this.tag = tag;
		this.bytes = buffer.byteSize();
		this.heap = buffer.isNative() ? null : buffer;
		this.address = buffer.isNative() ? buffer.address() : 0;
		this.timeoutNanos = timeoutNanos;
		this.started = false;
		this.failure = null;
		this.seenBytes = 0;
		this.done = false;
	}

	/** Nanoseconds since this was first asked for. */
	long elapsedNanos(long now) {
		if (!this.started) {
			this.started = true;
			this.startNanos = now;
		}
		return now - this.startNanos;
	}

	/** Nanoseconds left, negative if the deadline has passed. */
	long remainingNanos(long now) {
		return this.timeoutNanos - elapsedNanos(now);
	}

	/** The whole time that was given. */
	long timeoutNanos() {
		return this.timeoutNanos;
	}

	/** Whether a receive takes a message with such a source and tag. */
	boolean takes(int from, int with) {
		return (this.peer == from || this.peer == Message.ANY_SOURCE)
				&& (this.tag == with || this.tag == Message.ANY_TAG);
	}

	/** Whether a message fits a receive, whose buffer is still open. */
	boolean fits(DataType sent, long size) {
		return sent == this.type && size <= this.bytes && !bufferClosed();
	}

	/** Whether the caller has closed the buffer, which must not be touched any more. */
	boolean bufferClosed() {
		return !this.buffer.scope().isAlive();
	}

	/**
	 * Checks that there is a buffer to move bytes from or to. The peer counts on them, so
	 * the connection ends without it.
	 */
	void requireOpenBuffer() throws IOException {
		if (bufferClosed()) {
			throw new IOException("the buffer of a " + this + " was closed");
		}
	}

	/** A receive was matched. */
	void found(int from, int with, long size) {
		this.source = from;
		this.foundTag = with;
		this.foundBytes = size;
	}

	/** Notes how many bytes have moved. */
	void see(long movedBytes, long now) {
		if (movedBytes != this.seenBytes) {
			this.seenBytes = movedBytes;
			this.seenNanos = now;
		}
	}

	/** Describes the bytes that have moved; empty if none have. */
	String progress(long now) {
		if (this.seenBytes == 0) {
			return "";
		}
		long all = this.sends ? this.bytes : this.foundBytes;
		return ": " + CallWait.describe(this.seenBytes + " of " + all + " bytes so far", now - this.seenNanos);
	}

	Message message() {
		return this.sends ? new Message(this.peer, this.tag, this.bytes / this.type.bytes())
				: new Message(this.source, this.foundTag, count());
	}

	long count() {
		return this.foundBytes / this.type.bytes();
	}

	/** Drops all references to objects of the caller. */
	void clear() {
		this.buffer = MemorySegment.NULL;
		this.heap = null;
		this.future = null;
		this.waiter = null;
		this.failure = null;
	}

	@Override
	public String toString() {
		String ends = (this.sends ? "send to " : "receive from ")
				+ ((this.peer == Message.ANY_SOURCE) ? "any rank" : "rank " + this.peer);
		return ends + " with " + ((this.tag == Message.ANY_TAG) ? "any tag" : "tag " + this.tag) + " (" + this.bytes
				+ " bytes of " + this.type + ")";
	}

}
