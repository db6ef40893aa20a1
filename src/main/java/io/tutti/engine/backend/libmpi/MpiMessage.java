package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * One send or receive by the MPI library, with a native staging buffer for a heap buffer.
 */
final class MpiMessage extends MpiOperation {

	private static final long ALIGNMENT = 64;

	private static final String KEEP_OPEN = ": keep its arena open, or do not free it, until the call returns or its work is done";

	/** Limit for the library to end a receive that is to be withdrawn. */
	static final Duration WITHDRAWAL = Duration.ofSeconds(1);

	private final LibMpiMessages messages;

	private final boolean sends;

	private final MemorySegment buffer;

	private final MemorySegment memory;

	private final DataType type;

	private final int peer;

	private final int tag;

	private final Deadline deadline;

	private final CompletableFuture<Message> future = new CompletableFuture<>();

	/** Whether its deadline ends the message alone if nothing has matched it. */
	private final boolean endsAlone;

	/**
	 * Whether a thread already completes the future: it delivers the message, or agrees
	 * with rank 0 on a failure. A message that arrives after a failure leaves the buffer
	 * as it is, since its owner may use it again.
	 */
	private final AtomicBoolean completing = new AtomicBoolean();

	/** Why the message is to be withdrawn; only the library's thread accesses it. */
	private @Nullable RuntimeException withdrawal;

	private @Nullable Deadline withdrawalLimit;

	private @Nullable Message received;

	/**
	 * @param endsAlone whether the deadline of a receive ends it alone if nothing has
	 * matched it; otherwise it breaks the group
	 */
	MpiMessage(LibMpiMessages messages, boolean sends, MemorySegment buffer, DataType type, int peer, int tag,
			Deadline deadline, boolean endsAlone) {
		super(requestMemory());
		this.messages = messages;
		this.sends = sends;
		this.buffer = buffer;
		this.memory = buffer.isNative() ? buffer : Arena.ofAuto().allocate(buffer.byteSize(), ALIGNMENT);
		this.type = type;
		this.peer = peer;
		this.tag = tag;
		this.deadline = deadline;
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

	int peer() {
		return this.peer;
	}

	Deadline deadline() {
		return this.deadline;
	}

	/** What a timeout says after the message. */
	String overdue() {
		return this.endsAlone ? " did not complete; if nothing has matched it, the group stays usable"
				: " did not complete";
	}

	private int elements() {
		return (int) (this.memory.byteSize() / this.type.bytes());
	}

	@Override
	boolean begin(MpiCalls calls) {
		requireOpenBuffer();
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
		if (this.withdrawal != null && calls.isCancelled(status())) {
			throw this.withdrawal;
		}
		boolean truncated = !this.sends && code != 0 && calls.isTruncation(code);
		if (!truncated) {
			super.ended(calls, code);
		}
		requireOpenBuffer();
		if (this.sends) {
			return;
		}
		MpiAbi abi = this.messages.communicator().world().abi();
		int source = NativeMemory.getInt(status() + abi.statusSource());
		MessageTag found = MessageTag.decode(NativeMemory.getInt(status() + abi.statusTag()));
		if (truncated) {
			throw new MessageMismatchException(source, found.tag(), mismatched(source));
		}
		int count = calls.count(status(), abi.type(found.type()));
		if (found.type() != this.type) {
			throw new MessageMismatchException(source, found.tag(), found.type(), (long) count * found.type().bytes(),
					mismatched(source));
		}
		this.received = new Message(source, found.tag(), count);
	}

	/** The library accesses an address, whether or not the memory there is still open. */
	private void requireOpenBuffer() {
		if (!this.buffer.scope().isAlive()) {
			throw this.sends ? new IllegalStateException("its buffer was closed" + KEEP_OPEN) : this.messages
				.bufferClosed(this.peer, "the buffer of a " + this + " was closed before it ended" + KEEP_OPEN);
		}
	}

	private MessageMismatchException.Receive mismatched(int source) {
		return this.messages.receive(source, this.type, this.memory.byteSize());
	}

	@Override
	void inspect(MpiCalls calls) {
		CollectiveException failure = this.completing.get() ? null : this.messages.failureOf(this);
		if (failure == null) {
			return;
		}
		boolean late = failure.failure().kind() == Failure.Kind.TIMEOUT && this.endsAlone;
		if (late && this.withdrawalLimit == null) {
			withdraw(calls, failure);
		}
		else if (!late || this.withdrawalLimit.expired()) {
			fail(failure);
		}
	}

	@Override
	void inspectionFailed(RuntimeException failure) {
		fail(this.messages.brokenBy(failure, this));
	}

	/**
	 * Asks the library to end a receive that nothing has matched. Called by the library's
	 * thread.
	 * @param why the exception that ends it
	 */
	void withdraw(MpiCalls calls, RuntimeException why) {
		if (this.withdrawal == null && !this.sends && !isDone()) {
			this.withdrawal = why;
			this.withdrawalLimit = Deadline.after(WITHDRAWAL);
			calls.cancel(request());
		}
	}

	@Override
	void finished() {
		this.messages.finished(this);
		RuntimeException failure = failure();
		if (failure == null) {
			complete(this::deliver);
		}
		else if (failure == this.withdrawal || failure instanceof MessageMismatchException
				|| failure instanceof GroupStateException) {
			complete(() -> this.future.completeExceptionally(failure));
		}
		else {
			fail(this.messages.brokenBy(failure, this));
		}
	}

	private void complete(Runnable completion) {
		if (!this.completing.getAndSet(true)) {
			Thread.startVirtualThread(completion);
		}
	}

	private void deliver() {
		Message received = this.received;
		if (received != null && this.memory != this.buffer) {
			MemorySegment.copy(this.memory, 0, this.buffer, 0, received.count() * this.type.bytes());
		}
		this.future.complete((received != null) ? received : new Message(this.peer, this.tag, elements()));
	}

	/** Fails the future; the library may still be working on the message. */
	void fail(CollectiveException failure) {
		if (!this.future.isDone()) {
			complete(() -> this.future.completeExceptionally(this.messages.settled(failure)));
		}
	}

	@Override
	public String toString() {
		return (this.sends ? "send to " : "receive from ") + this.messages.nameOf(this.peer, this.tag) + " ("
				+ this.memory.byteSize() + " bytes of " + this.type + ")";
	}

}
