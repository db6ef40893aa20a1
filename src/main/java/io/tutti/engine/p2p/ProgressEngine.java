package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * Everything of one group's messages that is in flight on this rank, behind one lock:
 * starts operations, makes progress and completes them, for any number of threads. One
 * thread at a time sleeps on the connections while nothing moves. A method that requires
 * the lock says so.
 */
final class ProgressEngine {

	/** Instead of a rank: all of them. */
	static final int ALL = -1;

	/** Longest sleep of a thread while another one sleeps on the connections. */
	private static final long BYSTANDER_NANOS = 1_000_000;

	private final Connections connections;

	private final BufferPool pool;

	private final PeerChannels channels;

	private final MessageProtocol protocol;

	private final BiFunction<MessageOperation, RuntimeException, RuntimeException> toVerdict;

	private final Function<Throwable, RuntimeException> broken;

	private final ReentrantLock lock = new ReentrantLock();

	/** Held by the thread that sleeps on the connections. */
	private final AtomicBoolean asleep = new AtomicBoolean();

	private final ArrayDeque<MessageOperation> spares = new ArrayDeque<>();

	private final List<MessageOperation> inFlight = new ArrayList<>();

	/** Asynchronous operations in flight. */
	private int asynchronous;

	/** Synchronous calls that make progress. */
	private int callers;

	/** Synchronous calls so far, and how many the progress thread has seen. */
	private long calls;

	private long callsSeen;

	/**
	 * The failure of every operation from now on; {@code null} while the group works.
	 */
	private volatile @Nullable RuntimeException ended;

	private volatile boolean closed;

	/**
	 * @param toVerdict maps the failure of an operation to the group's verdict
	 * @param broken builds the failure of all operations after an error on this rank
	 */
	ProgressEngine(GroupIdentity identity, Connections connections, UnexpectedMessageBudget unexpected,
			BiFunction<MessageOperation, RuntimeException, RuntimeException> toVerdict,
			Function<Throwable, RuntimeException> broken) {
		this.connections = connections;
		this.toVerdict = toVerdict;
		this.broken = broken;
		this.pool = new BufferPool(unexpected);
		this.channels = new PeerChannels(identity.worldSize(), connections, this.pool, this::complete);
		this.protocol = new MessageProtocol(identity, this.pool, this.channels, this::complete);
	}

	/** Takes the lock, which is never held while a thread waits. */
	void enter() {
		this.lock.lock();
	}

	/** Releases the lock. */
	void leave() {
		this.lock.unlock();
	}

	/**
	 * Starts an operation and makes as much progress with it as is possible at once. It
	 * fails if everything has failed before. Requires the lock.
	 */
	MessageOperation begin(MessageOperation.Kind kind, MemorySegment buffer, DataType type, int peer, int tag,
			long timeoutNanos, @Nullable CompletableFuture<Message> future) {
		MessageOperation spare = this.spares.poll();
		MessageOperation operation = (spare != null) ? spare : new MessageOperation();
		operation.set(kind, buffer, type, peer, tag, timeoutNanos);
		operation.future = future;
		operation.waiter = (future == null) ? Thread.currentThread() : null;
		if (future != null) {
			operation.elapsedNanos(System.nanoTime());
			this.asynchronous++;
		}
		else {
			this.calls++;
		}
		start(operation);
		if (this.asleep.get() && this.channels.hasQueued()) {
			this.connections.wake();
		}
		return operation;
	}

	private void start(MessageOperation operation) {
		RuntimeException why = this.ended;
		if (why != null) {
			fail(operation, why);
			return;
		}
		operation.index = this.inFlight.size();
		this.inFlight.add(operation);
		try {
			this.protocol.start(operation);
		}
		catch (RuntimeException | Error ex) {
			endAll(this.broken.apply(ex));
		}
	}

	/**
	 * Makes progress until an operation is done, for at most so many rounds without
	 * progress, or until another thread wants the lock. Requires the lock.
	 */
	void spin(MessageOperation operation, int first, int rounds) {
		int idleRounds = 0;
		while (!operation.done && idleRounds < rounds && !this.lock.hasQueuedThreads()) {
			if (advance(first)) {
				idleRounds = 0;
			}
			else {
				idleRounds++;
				Thread.onSpinWait();
			}
		}
	}

	/**
	 * Makes progress once.
	 * @param first the rank to look at, or {@link #ALL}
	 * @return whether anything moved
	 */
	boolean progress(int first) {
		enter();
		try {
			return advance(first);
		}
		finally {
			leave();
		}
	}

	private boolean advance(int first) {
		if (this.ended != null) {
			return false;
		}
		try {
			return this.channels.progress(first, this.protocol);
		}
		catch (RuntimeException | Error ex) {
			endAll(this.broken.apply(ex));
			return false;
		}
	}

	private void complete(MessageOperation operation) {
		MessageOperation last = this.inFlight.removeLast();
		if (last != operation) {
			this.inFlight.set(operation.index, last);
			last.index = operation.index;
		}
		finish(operation);
	}

	private void fail(MessageOperation operation, RuntimeException why) {
		operation.failure = why;
		finish(operation);
	}

	private void finish(MessageOperation operation) {
		CompletableFuture<Message> future = operation.future;
		Thread waiter = operation.waiter;
		CompletableFuture<Boolean> cancellation = operation.cancellation;
		operation.done = true;
		if (cancellation != null) {
			cancellation.complete(operation.withdrawn);
		}
		if (future != null) {
			this.asynchronous--;
			Thread.startVirtualThread(() -> deliver(operation, future));
		}
		else if (waiter != Thread.currentThread()) {
			LockSupport.unpark(waiter);
			if (this.asleep.get()) {
				this.connections.wake();
			}
		}
	}

	private void deliver(MessageOperation operation, CompletableFuture<Message> future) {
		RuntimeException failure = operation.failure;
		if (failure != null) {
			future.completeExceptionally(this.toVerdict.apply(operation, failure));
			return;
		}
		Message message = operation.message();
		recycle(operation, null);
		future.complete(message);
	}

	/**
	 * Ends an operation alone if no message has matched it; requires the lock. A send
	 * asks its receiver first, and ends with the answer.
	 * @return {@code false} if a message has matched it
	 */
	boolean withdraw(MessageOperation operation, RuntimeException why) {
		return this.protocol.withdraw(operation, why);
	}

	/**
	 * Cancels an asynchronous operation.
	 * @return whether no message had matched it
	 */
	CompletableFuture<Boolean> cancel(CompletableFuture<Message> future) {
		enter();
		try {
			for (MessageOperation operation : this.inFlight) {
				if (operation.future == future) {
					return cancel(operation);
				}
			}
			return CompletableFuture.completedFuture(false);
		}
		finally {
			leave();
		}
	}

	private CompletableFuture<Boolean> cancel(MessageOperation operation) {
		CompletableFuture<Boolean> earlier = operation.cancellation;
		CompletableFuture<Boolean> cancellation = (earlier != null) ? earlier : new CompletableFuture<>();
		operation.cancellation = cancellation;
		if (!withdraw(operation, new CancellationException("the " + operation + " was cancelled"))) {
			cancellation.complete(false);
		}
		return cancellation;
	}

	/** The first unexpected message that matches; requires the lock. */
	@Nullable Message peek(int source, int tag) {
		return this.protocol.peek(source, tag);
	}

	/** The failure of every operation from now on; {@code null} while the group works. */
	@Nullable RuntimeException failure() {
		return this.ended;
	}

	/** Takes operations back that are done and whose results have been read. */
	void recycle(MessageOperation operation, @Nullable MessageOperation other) {
		enter();
		operation.clear();
		this.spares.push(operation);
		if (other != null) {
			other.clear();
			this.spares.push(other);
		}
		leave();
	}

	/** Fails everything; no memory of a caller is touched from now on. */
	void end(RuntimeException why) {
		enter();
		try {
			endAll(why);
		}
		finally {
			leave();
		}
		wake();
	}

	/** As {@link #end}, without a wake-up; requires the lock. The first reason stays. */
	void endAll(RuntimeException why) {
		this.protocol.clear();
		this.pool.clear();
		this.channels.end();
		if (this.ended == null) {
			this.ended = why;
			while (!this.inFlight.isEmpty()) {
				fail(this.inFlight.removeLast(), why);
			}
		}
	}

	/**
	 * Lets no operation begin any more; requires the lock.
	 * @return whether one could until now
	 */
	boolean close() {
		boolean first = !this.closed;
		this.closed = true;
		return first;
	}

	boolean closed() {
		return this.closed;
	}

	/** Whether nothing moves any more. */
	boolean ended() {
		return this.closed || this.ended != null;
	}

	/** Operations in flight, not to be changed; requires the lock. */
	List<MessageOperation> inFlight() {
		return this.inFlight;
	}

	/** Connections and queues, for diagnostics; requires the lock. */
	PeerChannels channels() {
		return this.channels;
	}

	/** Whether an operation is in flight. */
	boolean hasOperations() {
		enter();
		boolean any = !this.inFlight.isEmpty();
		leave();
		return any;
	}

	/** Whether sends are queued; without the lock, the answer may be out of date. */
	boolean hasQueued() {
		return this.channels.hasQueued();
	}

	/** Whether sends are queued and can still be sent. */
	boolean canDrain() {
		enter();
		boolean queued = !ended() && this.channels.hasQueued();
		leave();
		return queued;
	}

	/** Whether something needs progress that no synchronous call waits for. */
	boolean hasUnattended() {
		enter();
		boolean unattended = !ended() && (this.asynchronous > 0 || this.channels.hasQueued());
		leave();
		return unattended;
	}

	/** A synchronous call begins (1), or ends (-1), to make progress. */
	void countCaller(int change) {
		enter();
		this.callers += change;
		leave();
		if (change > 0 && this.asleep.get()) {
			this.connections.wake();
		}
	}

	/**
	 * Whether synchronous calls make progress: one is under way, or there was one since
	 * the last look and nothing else needs progress.
	 */
	boolean hasCaller() {
		enter();
		try {
			boolean called = this.calls != this.callsSeen;
			this.callsSeen = this.calls;
			return this.callers > 0 || called && this.asynchronous == 0 && !this.channels.hasQueued();
		}
		finally {
			leave();
		}
	}

	/**
	 * Sleeps until something may move, for at most that long.
	 * @param operation the operation to wait for; {@code null} for any
	 */
	void sleep(long maxNanos, @Nullable MessageOperation operation) {
		if (!this.asleep.compareAndSet(false, true)) {
			LockSupport.parkNanos(Math.min(maxNanos, BYSTANDER_NANOS));
			return;
		}
		try {
			if (prepareSleep(operation) && (operation == null || !operation.done)) {
				this.connections.sleep(maxNanos);
			}
		}
		catch (RuntimeException | Error ex) {
			end(this.broken.apply(ex));
		}
		finally {
			this.asleep.set(false);
		}
	}

	private boolean prepareSleep(@Nullable MessageOperation operation) {
		enter();
		try {
			if (ended()) {
				return false;
			}
			this.connections.prepareSleep((operation != null) ? operation.peer : ALL);
			return true;
		}
		finally {
			leave();
		}
	}

	/** Ends the sleep, if any. */
	void wake() {
		this.connections.wake();
	}

}
