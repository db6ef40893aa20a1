package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.tutti.engine.DataType;
import io.tutti.engine.Message;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * One group's postroom behind its lock, for the threads of many callers; and where one of
 * them sleeps while nothing moves.
 */
final class ProgressEngine {

	/** Longest sleep of a thread that another one moves things on for. */
	private static final long BYSTANDER_NANOS = 1_000_000;

	/** Instead of a rank: look at all. */
	static final int ALL = -1;

	private final Connections wires;

	private final Postroom postroom;

	private final BiFunction<Operation, RuntimeException, RuntimeException> settled;

	private final Function<Throwable, RuntimeException> broken;

	private final ReentrantLock lock = new ReentrantLock();

	/** Held by the one thread that sleeps on the connections. */
	private final AtomicBoolean asleep = new AtomicBoolean();

	private final ArrayDeque<Operation> spares = new ArrayDeque<>();

	/** Asynchronous operations that are under way. */
	private int unattended;

	/** Synchronous calls that make progress. */
	private volatile int drivers;

	/** Synchronous calls so far, and how many the progress thread has seen. */
	private long calls;

	private long callsSeen;

	private volatile boolean closed;

	/**
	 * @param settled what the failure of an operation comes to once the others have been
	 * heard
	 * @param broken the failure of all operations after an error of this rank's own
	 */
	ProgressEngine(int rank, int worldSize, Connections wires, UnexpectedMessageBudget unexpected,
			BiFunction<Operation, RuntimeException, RuntimeException> settled,
			Function<Throwable, RuntimeException> broken) {
		this.wires = wires;
		this.settled = settled;
		this.broken = broken;
		this.postroom = new Postroom(rank, worldSize, wires, unexpected, this::finished, broken);
	}

	/**
	 * Only one thread works here at a time; whatever takes longer than that stays out.
	 */
	void enter() {
		this.lock.lock();
	}

	void leave() {
		this.lock.unlock();
	}

	/** What there is to do; only for who has entered. */
	Postroom postroom() {
		return this.postroom;
	}

	/** Begins an operation; only for who has entered. */
	Operation begin(boolean sends, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos,
			@Nullable CompletableFuture<Message> future) {
		Operation spare = this.spares.poll();
		Operation operation = (spare != null) ? spare : new Operation();
		operation.set(sends, buffer, type, peer, tag, timeoutNanos);
		operation.future = future;
		operation.waiter = (future == null) ? Thread.currentThread() : null;
		if (future != null) {
			operation.stopwatch.elapsedNanos(System.nanoTime());
			this.unattended++;
		}
		else {
			this.calls++;
		}
		this.postroom.start(operation);
		if (this.asleep.get() && this.postroom.hasLetters()) {
			this.wires.wake();
		}
		return operation;
	}

	/**
	 * Moves things on until an operation is done, at most for so many rounds without a
	 * move, or until another thread wants to enter. Only for who has entered.
	 */
	void spin(Operation operation, int first, int rounds) {
		int idleRounds = 0;
		while (!operation.done && idleRounds < rounds && !this.lock.hasQueuedThreads()) {
			if (this.postroom.progress(first)) {
				idleRounds = 0;
			}
			else {
				idleRounds++;
				Thread.onSpinWait();
			}
		}
	}

	/** Moves things on once. */
	boolean progress(int first) {
		enter();
		try {
			return this.postroom.progress(first);
		}
		finally {
			leave();
		}
	}

	private void finished(Operation operation) {
		CompletableFuture<Message> future = operation.future;
		Thread waiter = operation.waiter;
		operation.done = true;
		if (future != null) {
			this.unattended--;
			Thread.startVirtualThread(() -> complete(operation, future));
		}
		else if (waiter != Thread.currentThread()) {
			LockSupport.unpark(waiter);
			if (this.asleep.get()) {
				this.wires.wake();
			}
		}
	}

	private void complete(Operation operation, CompletableFuture<Message> future) {
		RuntimeException failure = operation.failure;
		if (failure != null) {
			future.completeExceptionally(this.settled.apply(operation, failure));
			return;
		}
		Message message = operation.message();
		recycle(operation, null);
		future.complete(message);
	}

	/** Takes operations back that are done and delivered. */
	void recycle(Operation operation, @Nullable Operation other) {
		enter();
		operation.clear();
		this.spares.push(operation);
		if (other != null) {
			other.clear();
			this.spares.push(other);
		}
		leave();
	}

	/** Whether there is something that no synchronous call waits for. */
	boolean hasUnattended() {
		enter();
		try {
			return !this.closed && !this.postroom.ended() && (this.unattended > 0 || this.postroom.hasLetters());
		}
		finally {
			leave();
		}
	}

	/** Whether small sends that have returned are not sent yet, and still can be. */
	boolean hasQueued() {
		enter();
		try {
			return !this.closed && !this.postroom.ended() && this.postroom.hasLetters();
		}
		finally {
			leave();
		}
	}

	/** The ranks for which sends are queued, as a diagnostic. */
	String queuedPeers(List<Integer> worldRanks) {
		enter();
		try {
			return this.postroom.queuedPeers(worldRanks);
		}
		finally {
			leave();
		}
	}

	/** Whether an operation is in flight. */
	boolean hasOperations() {
		enter();
		try {
			return !this.postroom.open().isEmpty();
		}
		finally {
			leave();
		}
	}

	/** A synchronous call begins, or ends, to make progress. */
	void countDriver(int change) {
		enter();
		this.drivers += change;
		leave();
		if (change > 0 && this.asleep.get()) {
			this.wires.wake();
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
			return this.drivers > 0 || called && this.unattended == 0 && !this.postroom.hasLetters();
		}
		finally {
			leave();
		}
	}

	/** Whether nothing moves any more. */
	boolean ended() {
		enter();
		try {
			return this.closed || this.postroom.ended();
		}
		finally {
			leave();
		}
	}

	/**
	 * Sleeps until something may move, at most that long.
	 * @param operation what the thread waits for; {@code null} if for anything
	 */
	void sleep(long maxNanos, @Nullable Operation operation) {
		if (!this.asleep.compareAndSet(false, true)) {
			LockSupport.parkNanos(Math.min(maxNanos, BYSTANDER_NANOS));
			return;
		}
		try {
			if (prepareSleep(operation) && (operation == null || !operation.done)) {
				this.wires.sleep(maxNanos);
			}
		}
		catch (RuntimeException | Error ex) {
			end(this.broken.apply(ex));
		}
		finally {
			this.asleep.set(false);
		}
	}

	private boolean prepareSleep(@Nullable Operation operation) {
		enter();
		try {
			if (this.closed || this.postroom.ended()) {
				return false;
			}
			this.wires.prepareSleep((operation != null) ? operation.peer : ALL);
			return true;
		}
		finally {
			leave();
		}
	}

	/** Ends the sleep, if any. */
	void wake() {
		this.wires.wake();
	}

	/** Fails everything that is under way. */
	void end(RuntimeException why) {
		enter();
		try {
			this.postroom.end(why);
		}
		finally {
			leave();
		}
		wake();
	}

	boolean closed() {
		return this.closed;
	}

	/**
	 * Nobody may begin anything any more; only for who has entered.
	 * @return whether somebody could until now
	 */
	boolean close() {
		boolean first = !this.closed;
		this.closed = true;
		return first;
	}

}
