package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.Message;
import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * One send or receive by the MPI library, with a native staging buffer for a heap buffer.
 */
final class MpiMessage extends MpiOperation {

	private static final long ALIGNMENT = 64;

	/** Limit for the library to end a receive that is to be withdrawn. */
	private static final long WITHDRAWAL_NANOS = 1_000_000_000;

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

	/** Whether its deadline ends the message alone if nothing has matched it. */
	private final boolean endsAlone;

	/** Why the message is to be withdrawn; only the library's thread accesses it. */
	private @Nullable RuntimeException withdrawal;

	private long withdrawnNanos;

	private int source;

	private MessageTag found = MessageTag.NONE;

	private int count;

	/**
	 * @param endsAlone whether the deadline of a receive ends it alone if nothing has
	 * matched it; otherwise it breaks the group
	 */
	MpiMessage(LibMpiMessages messages, boolean sends, MemorySegment buffer, DataType type, int peer, int tag,
			long timeoutNanos, boolean endsAlone) {
		this.messages = messages;
		this.sends = sends;
		this.buffer = buffer;
		this.memory = buffer.isNative() ? buffer : Arena.ofAuto().allocate(buffer.byteSize(), ALIGNMENT);
		this.type = type;
		this.peer = peer;
		this.tag = tag;
		this.timeoutNanos = timeoutNanos;
		this.endsAlone = endsAlone && !sends;
		if (sends && this.memory != buffer) {
			this.memory.copyFrom(buffer);
		}
	}

	/** Completed on a new virtual thread. */
	CompletableFuture<Message> future() {
		return this.future;
	}

	boolean sends() {
		return this.sends;
	}

	boolean endsAlone() {
		return this.endsAlone;
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
			calls.isend.call(this.memory.address(), elements(), mpiType, this.peer,
					MessageTag.encode(this.type, this.tag), communicator.handle(), request());
			return true;
		}
		int from = (this.peer == Message.ANY_SOURCE) ? abi.anySource() : this.peer;
		int with = (this.tag == Message.ANY_TAG) ? abi.anyTag() : MessageTag.encode(this.type, this.tag);
		calls.irecv.call(this.memory.address(), elements(), mpiType, from, with, communicator.handle(), request());
		return true;
	}

	@Override
	void ended(MpiCalls calls, int code) {
		MpiAbi abi = this.messages.communicator().world().abi();
		if (this.sends) {
			super.ended(calls, code);
			return;
		}
		if (this.withdrawal != null && calls.isCancelled(status())) {
			throw this.withdrawal;
		}
		this.source = NativeMemory.getInt(status() + abi.statusSource());
		this.found = MessageTag.decode(NativeMemory.getInt(status() + abi.statusTag()));
		if (code != 0 && calls.isTruncation(code)) {
			throw this.messages.tooLarge(this.source, this.found.tag(), this.type, this.memory.byteSize());
		}
		super.ended(calls, code);
		this.count = calls.count(status(), abi.type(this.found.type()));
		if (this.found.type() != this.type) {
			throw this.messages.ofAnotherType(this.source, this.found, this.count, this.type, this.memory.byteSize());
		}
	}

	@Override
	void inspect(MpiCalls calls, long nowNanos) {
		CollectiveException failure = this.messages.failureOf(this, nowNanos);
		if (failure == null) {
			return;
		}
		boolean late = failure.failure().kind() == Failure.Kind.TIMEOUT && this.endsAlone;
		if (late && this.withdrawal == null) {
			withdraw(calls, failure, nowNanos);
		}
		else if (!late || nowNanos - this.withdrawnNanos > WITHDRAWAL_NANOS) {
			fail(failure);
		}
	}

	/**
	 * Asks the library to end a receive that nothing has matched. Called by the library's
	 * thread.
	 * @param why the exception that ends it
	 */
	void withdraw(MpiCalls calls, RuntimeException why, long nowNanos) {
		if (this.withdrawal == null && !this.sends && !isDone()) {
			this.withdrawal = why;
			this.withdrawnNanos = nowNanos;
			calls.cancel(request());
		}
	}

	@Override
	void finished() {
		this.messages.finished(this);
		RuntimeException failure = failure();
		if (failure == null) {
			Thread.startVirtualThread(this::deliver);
		}
		else if (failure == this.withdrawal) {
			Thread.startVirtualThread(() -> this.future.completeExceptionally(failure));
		}
		else {
			fail(failure);
		}
	}

	private void deliver() {
		if (!this.sends && this.memory != this.buffer) {
			MemorySegment.copy(this.memory, 0, this.buffer, 0, (long) this.count * this.type.bytes());
		}
		this.future.complete(this.sends ? new Message(this.peer, this.tag, elements())
				: new Message(this.source, this.found.tag(), this.count));
	}

	/** Fails the future; the library may still be working on the message. */
	void fail(RuntimeException failure) {
		if (!this.future.isDone()) {
			Thread.startVirtualThread(() -> this.future.completeExceptionally(this.messages.settled(failure)));
		}
	}

	@Override
	public String toString() {
		return (this.sends ? "send to " : "receive from ") + nameOf(this.peer, this.tag) + " (" + this.memory.byteSize()
				+ " bytes of " + this.type + ")";
	}

	/** As in {@code rank 1 with tag 7}. */
	static String nameOf(int peer, int tag) {
		return ((peer == Message.ANY_SOURCE) ? "any rank" : "rank " + peer) + " with "
				+ ((tag == Message.ANY_TAG) ? "any tag" : "tag " + tag);
	}

}
