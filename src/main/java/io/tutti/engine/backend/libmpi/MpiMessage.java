package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.spi.NativeMemory;

/**
 * One send or receive by the MPI library, with a native staging buffer for a heap buffer.
 */
final class MpiMessage extends MpiOperation {

	private static final long ALIGNMENT = 64;

	private final LibMpiMessages messages;

	private final boolean sends;

	private final MemorySegment buffer;

	private final MemorySegment memory;

	private final DataType type;

	private final int peer;

	private final int tag;

	private final long startNanos = System.nanoTime();

	private final long timeoutNanos;

	private final CompletableFuture<Message> future = new CompletableFuture<>();

	private int source;

	private int foundTag;

	private int count;

	MpiMessage(LibMpiMessages messages, boolean sends, MemorySegment buffer, DataType type, int peer, int tag,
			long timeoutNanos) {
		this.messages = messages;
		this.sends = sends;
		this.buffer = buffer;
		this.memory = buffer.isNative() ? buffer : Arena.ofAuto().allocate(buffer.byteSize(), ALIGNMENT);
		this.type = type;
		this.peer = peer;
		this.tag = tag;
		this.timeoutNanos = timeoutNanos;
		if (sends && this.memory != buffer) {
			this.memory.copyFrom(buffer);
		}
	}

	/** Completed on a new virtual thread. */
	CompletableFuture<Message> future() {
		return this.future;
	}

	int peer() {
		return this.peer;
	}

	Duration elapsed(long nowNanos) {
		return Duration.ofNanos(nowNanos - this.startNanos);
	}

	Duration timeout() {
		return Duration.ofNanos(this.timeoutNanos);
	}

	boolean overdue(long nowNanos) {
		return nowNanos - this.startNanos >= this.timeoutNanos;
	}

	private int elements() {
		return (int) (this.memory.byteSize() / this.type.bytes());
	}

	@Override
	boolean begin(MpiCalls calls) {
		MpiCommunicator communicator = this.messages.communicator();
		MpiAbi abi = communicator.world().abi();
		long mpiType = abi.type(this.type);
		if (this.sends) {
			calls.isend(this.memory.address(), elements(), mpiType, this.peer, this.tag, communicator.handle(),
					request());
			return true;
		}
		int from = (this.peer == Message.ANY_SOURCE) ? abi.anySource() : this.peer;
		int with = (this.tag == Message.ANY_TAG) ? abi.anyTag() : this.tag;
		calls.irecv(this.memory.address(), elements(), mpiType, from, with, communicator.handle(), request());
		return true;
	}

	@Override
	void ended(MpiCalls calls, int code) {
		MpiAbi abi = this.messages.communicator().world().abi();
		if (this.sends) {
			super.ended(calls, code);
			return;
		}
		this.source = NativeMemory.getInt(status() + abi.statusSource());
		this.foundTag = NativeMemory.getInt(status() + abi.statusTag());
		if (code != 0 && calls.isTruncation(code)) {
			throw this.messages.tooLarge(this.source, this.foundTag, this.type, this.memory.byteSize());
		}
		super.ended(calls, code);
		this.count = calls.count(status(), abi.type(this.type));
	}

	@Override
	void inspect(long nowNanos) {
		CollectiveException failure = this.messages.failureOf(this, nowNanos);
		if (failure != null) {
			fail(failure);
		}
	}

	@Override
	void finished() {
		this.messages.finished(this);
		RuntimeException failure = failure();
		if (failure != null) {
			fail(failure);
		}
		else {
			Thread.startVirtualThread(this::deliver);
		}
	}

	private void deliver() {
		if (!this.sends && this.memory != this.buffer) {
			MemorySegment.copy(this.memory, 0, this.buffer, 0, (long) this.count * this.type.bytes());
		}
		this.future.complete(this.sends ? new Message(this.peer, this.tag, elements())
				: new Message(this.source, this.foundTag, this.count));
	}

	/** Fails the future; the library may still be working on the message. */
	void fail(RuntimeException failure) {
		if (!this.future.isDone()) {
			Thread.startVirtualThread(() -> this.future.completeExceptionally(this.messages.settled(failure)));
		}
	}

	@Override
	public String toString() {
		String ends = (this.sends ? "send to " : "receive from ")
				+ ((this.peer == Message.ANY_SOURCE) ? "any rank" : "rank " + this.peer);
		return ends + " with " + ((this.tag == Message.ANY_TAG) ? "any tag" : "tag " + this.tag) + " ("
				+ this.memory.byteSize() + " bytes of " + this.type + ")";
	}

}
