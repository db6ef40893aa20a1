package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.transport.CallWait;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * One send, receive or probe from its call to its end. Pooled, so that a call allocates
 * nothing.
 */
final class MessageOperation {

	/**
	 * Largest message that is copied if it has to wait, so that its send returns.
	 */
	static final int SMALL_BYTES = 64 * 1024;

	/**
	 * Largest message that is sent before its receiver asks for it, over connections that
	 * gain by that.
	 */
	static final int EAGER_BYTES = 2 * SMALL_BYTES;

	/** What is done with a message. */
	enum Kind {

		SEND, RECEIVE,

		/** Waits for a message without receiving it. */
		PROBE

	}

	/**
	 * How long the receiver's answer to CANCEL may take once the deadline has passed. A
	 * rank that computes answers within its progress thread's longest pause.
	 */
	static final Duration WITHDRAWAL = Duration.ofSeconds(2);

	/** The world ranks of the group's ranks, by rank in the group. */
	private final List<Integer> members;

	Kind kind = Kind.RECEIVE;

	MemorySegment buffer = MemorySegment.NULL;

	DataType type = DataType.INT8;

	/** Rank of the group, or any. */
	int peer;

	int tag;

	/** The buffer if it is on the heap; the address is an offset in it then. */
	@Nullable MemorySegment heap;

	long address;

	long bytes;

	@Nullable CompletableFuture<Message> future;

	@Nullable Thread waiter;

	/** How a synchronous call waits for it; made by the first one that waits. */
	@Nullable IdleStrategy idle;

	/** Index among the operations in flight. */
	int index;

	/** The message that a receive or probe has matched. */
	int source;

	int foundTag;

	long foundBytes;

	@Nullable RuntimeException failure;

	/**
	 * Whether it ends alone at its deadline while no message has matched; otherwise the
	 * group breaks.
	 */
	boolean independent;

	/** The failure of a send that has asked its receiver to cancel it. */
	@Nullable RuntimeException withdrawal;

	/** Whether it has failed alone: nothing was matched, and the group works. */
	boolean withdrawn;

	/** Nanoseconds beyond the limit that the receiver has to answer a withdrawal. */
	private long answerNanos;

	/** What had moved between this rank and the receiver when that time began. */
	private long answerMoves;

	/** Is told whether a call to cancel has succeeded. */
	@Nullable CompletableFuture<Boolean> cancellation;

	/**
	 * Set without a memory fence: a thread that sleeps on the connections looks behind
	 * the lock first, any other is woken.
	 */
	private final AtomicBoolean done = new AtomicBoolean();

	private long timeoutNanos;

	/** When the time was first asked for: a message that need not wait reads no clock. */
	private long startNanos;

	private boolean started;

	/** Bytes of the message that have moved. */
	long movedBytes;

	/** Bytes that had moved at the last check, and when it first saw so many. */
	private long seenBytes;

	private long seenNanos;

	MessageOperation(List<Integer> members) {
		this.members = members;
	}

	void set(Kind kind, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos) {
		this.kind = kind;
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
		this.independent = true;
		this.withdrawn = false;
		this.movedBytes = 0;
		this.seenBytes = 0;
		this.done.setPlain(false);
	}

	/** Whether it has ended, well or not. */
	boolean done() {
		return this.done.getAcquire();
	}

	/** It has ended; its result is set. */
	void end() {
		this.done.setRelease(true);
	}

	boolean sends() {
		return this.kind == Kind.SEND;
	}

	/**
	 * Nanoseconds since this was first asked for. A thread may have looked at the clock
	 * before another one asked first.
	 */
	long elapsedNanos(long now) {
		if (!this.started) {
			this.started = true;
			this.startNanos = now;
		}
		return Math.max(0, now - this.startNanos);
	}

	/** Nanoseconds left, negative if the deadline has passed. */
	long remainingNanos(long now) {
		long limit = this.timeoutNanos + ((this.withdrawal != null) ? this.answerNanos : 0);
		return ((limit < 0) ? Long.MAX_VALUE : limit) - elapsedNanos(now);
	}

	/** Asks the receiver of this send to cancel it. */
	void beginWithdrawal(RuntimeException why, long moves) {
		this.withdrawal = why;
		this.answerNanos = WITHDRAWAL.toNanos();
		this.answerMoves = moves;
	}

	/** Whether the receiver has not answered yet whether it cancels this send. */
	boolean awaitsWithdrawal() {
		return this.withdrawal != null && this.independent;
	}

	/**
	 * Gives the receiver more time to answer if something has moved since: question and
	 * answer queue behind other messages.
	 * @return whether it has more time
	 */
	boolean prolongWithdrawal(long now, long moves) {
		if (!awaitsWithdrawal() || moves == this.answerMoves) {
			return false;
		}
		this.answerNanos = elapsedNanos(now) - this.timeoutNanos + WITHDRAWAL.toNanos();
		this.answerMoves = moves;
		return true;
	}

	/** The whole time that was given. */
	long timeoutNanos() {
		return this.timeoutNanos;
	}

	/** Whether a message has a source and a tag, each of which may be any. */
	static boolean matches(int source, int tag, int from, int with) {
		return (source == from || source == Message.ANY_SOURCE) && (tag == with || tag == Message.ANY_TAG);
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

	/** A receive or probe was matched. */
	void matched(int from, int with, long size) {
		this.source = from;
		this.foundTag = with;
		this.foundBytes = size;
	}

	/** It ends alone: it has matched nothing. */
	void withdraw(RuntimeException why) {
		this.failure = why;
		this.withdrawn = true;
	}

	/** The receiver has matched this send, which can be withdrawn no longer. */
	void matched() {
		this.independent = false;
		if (this.cancellation != null) {
			this.cancellation.complete(false);
		}
	}

	/** Notes whether bytes have moved since the last check. */
	void recordProgress(long now) {
		if (this.movedBytes != this.seenBytes) {
			this.seenBytes = this.movedBytes;
			this.seenNanos = now;
		}
	}

	/** Describes the bytes that have moved; empty if none have. */
	String progress(long now) {
		if (this.seenBytes == 0) {
			return "";
		}
		long all = sends() ? this.bytes : this.foundBytes;
		return ": " + CallWait.describe(this.seenBytes + " of " + all + " bytes so far", now - this.seenNanos);
	}

	Message message() {
		return sends() ? new Message(this.peer, this.tag, this.bytes / this.type.bytes())
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
		this.withdrawal = null;
		this.cancellation = null;
	}

	/** Names the peer by its world rank, as every failure does. */
	@Override
	public String toString() {
		String verb = switch (this.kind) {
			case SEND -> "send to ";
			case RECEIVE -> "receive from ";
			case PROBE -> "probe for a message from ";
		};
		String envelope = verb
				+ ((this.peer == Message.ANY_SOURCE) ? "any rank" : "rank " + this.members.get(this.peer)) + " with "
				+ ((this.tag == Message.ANY_TAG) ? "any tag" : "tag " + this.tag);
		return (this.kind == Kind.PROBE) ? envelope : envelope + " (" + this.bytes + " bytes of " + this.type + ")";
	}

}
