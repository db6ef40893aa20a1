package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Everything of one group's messages that is in flight on this rank, behind one lock:
 * starts operations, makes progress and completes them, for any number of threads. One
 * thread at a time sleeps on the connections while nothing moves. A method that requires
 * the lock says so.
 */
final class ProgressEngine {

	/** Rounds that move bytes of a large message before its caller looks further. */
	private static final int SPINNING_MOVES = 8;

	/** Instead of a rank: all of them. */
	static final int ALL = -1;

	/** Longest sleep of a thread while another one sleeps on the connections. */
	private static final long BYSTANDER_NANOS = 1_000_000;

	/** The lock while a thread holds it. */
	interface Locked extends AutoCloseable {

		@Override
		void close();

	}

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final Connections connections;

	private final BufferPool pool;

	private final PeerChannels channels;

	private final MessageProtocol protocol;

	private final MessageFailures failures;

	private final ReentrantLock lock = new ReentrantLock();

	/** Releases the lock; made once. */
	private final Locked locked = this::leave;

	/** Held by the thread that sleeps on the connections. */
	private final AtomicBoolean asleep = new AtomicBoolean();

	private final ArrayDeque<MessageOperation> spares = new ArrayDeque<>();

	private final List<MessageOperation> inFlight = new ArrayList<>();

	/** The ranks for which operations in flight wait, but for those that wait for any. */
	private final BitSet awaited = new BitSet();

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
	private volatile @Nullable CollectiveException ended;

	/** Whether this rank closes the group; what is in flight ends later. */
	private volatile boolean closed;

	ProgressEngine(GroupIdentity identity, FailureLatch latch, Connections connections,
			UnexpectedMessageBudget unexpected) {
		this.identity = identity;
		this.latch = latch;
		this.connections = connections;
		this.failures = new MessageFailures(identity, latch, this);
		this.pool = new BufferPool(unexpected);
		this.channels = new PeerChannels(identity.worldSize(), connections, this.pool, this::complete);
		this.protocol = new MessageProtocol(identity, this.failures, this.pool, this.channels, this::complete);
	}

	/** Checks and failures of messages. */
	MessageFailures failures() {
		return this.failures;
	}

	/**
	 * Takes the lock, which is never held while a thread waits.
	 * @return releases it
	 */
	Locked enter() {
		this.lock.lock();
		return this.locked;
	}

	private void leave() {
		this.lock.unlock();
	}

	/** Checks that an operation may begin; requires the lock. */
	void requireUsable() {
		requireOpen();
		requireNotBroken();
	}

	/** Checks that the group is not broken. */
	void requireNotBroken() {
		this.latch.requireNotBroken(this.identity);
	}

	/** Checks that this rank has not closed the group. */
	void requireOpen() {
		if (this.closed) {
			throw GroupStateException.closed(this.identity);
		}
	}

	/**
	 * Starts an operation and makes as much progress with it as is possible at once. It
	 * fails if everything has failed before. Requires the lock.
	 */
	MessageOperation begin(MessageOperation.Kind kind, MemorySegment buffer, DataType type, int peer, int tag,
			long timeoutNanos, @Nullable CompletableFuture<Message> future) {
		MessageOperation spare = this.spares.poll();
		MessageOperation operation = (spare != null) ? spare : new MessageOperation(this.identity.members());
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
		if (hasQueued()) {
			wakeSleeper();
		}
		return operation;
	}

	private void start(MessageOperation operation) {
		CollectiveException why = this.ended;
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
			endAll(this.failures.broken(ex));
		}
	}

	/**
	 * Makes progress until an operation is done, for at most so many rounds without and
	 * {@value #SPINNING_MOVES} with progress, or until another thread wants the lock: no
	 * deadline is checked. Requires the lock.
	 */
	void spin(MessageOperation operation, int first, int rounds) {
		int idleRounds = 0;
		int moves = 0;
		while (!operation.done() && idleRounds < rounds && moves < SPINNING_MOVES && !this.lock.hasQueuedThreads()) {
			if (advance(first)) {
				idleRounds = 0;
				moves++;
			}
			else {
				idleRounds++;
				Thread.onSpinWait();
			}
		}
	}

	/**
	 * Makes progress once, and idles if nothing moved.
	 * @param first the rank to look at, or {@link #ALL}
	 * @return whether anything moved
	 */
	boolean step(IdleStrategy idle, int first) {
		boolean moved;
		try (Locked _ = enter()) {
			moved = advance(first);
		}
		if (moved) {
			idle.moved();
		}
		else {
			idle.stalled();
		}
		return moved;
	}

	private boolean advance(int first) {
		if (this.ended != null) {
			return false;
		}
		try {
			return this.channels.progress(first, this.protocol);
		}
		catch (RuntimeException | Error ex) {
			endAll(this.failures.broken(ex));
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
		operation.end();
		if (cancellation != null) {
			cancellation.complete(operation.withdrawn);
		}
		if (future != null) {
			this.asynchronous--;
			startDelivery(operation, future);
		}
		else if (waiter != Thread.currentThread()) {
			LockSupport.unpark(waiter);
			wakeSleeper();
		}
	}

	private void startDelivery(MessageOperation operation, CompletableFuture<Message> future) {
		try {
			Thread.startVirtualThread(() -> deliver(operation, future));
		}
		catch (RuntimeException | Error ex) {
			// There is no memory for a thread, and the caller must not wait for ever.
			deliver(operation, future);
		}
	}

	private void deliver(MessageOperation operation, CompletableFuture<Message> future) {
		RuntimeException failure = operation.failure;
		if (failure != null) {
			future.completeExceptionally(this.failures.verdict(operation, failure));
			return;
		}
		Message message = operation.message();
		try (Locked _ = enter()) {
			recycle(operation);
		}
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
		try (Locked _ = enter()) {
			for (MessageOperation operation : this.inFlight) {
				if (operation.future == future) {
					return cancel(operation);
				}
			}
			return CompletableFuture.completedFuture(false);
		}
	}

	private CompletableFuture<Boolean> cancel(MessageOperation operation) {
		CompletableFuture<Boolean> earlier = operation.cancellation;
		CompletableFuture<Boolean> cancellation = (earlier != null) ? earlier : new CompletableFuture<>();
		operation.cancellation = cancellation;
		if (!withdraw(operation, this.failures.withdrawn(operation))) {
			cancellation.complete(false);
		}
		return cancellation;
	}

	/**
	 * The first unexpected message that matches, among all that have arrived.
	 * @throws CollectiveException the failure of every operation if the group has failed
	 */
	@Nullable Message peek(int source, int tag) {
		try (Locked _ = enter()) {
			requireUsable();
			advance(ALL);
			CollectiveException why = this.ended;
			if (why != null) {
				throw why;
			}
			return this.protocol.peek(source, tag);
		}
	}

	/**
	 * Takes an operation back that is done and whose result was read; requires the lock.
	 */
	void recycle(MessageOperation operation) {
		operation.clear();
		this.spares.push(operation);
	}

	/** Fails everything; no memory of a caller is touched from now on. */
	void end(CollectiveException why) {
		try (Locked _ = enter()) {
			endAll(why);
		}
		wake();
	}

	/** As {@link #end}, without a wake-up; requires the lock. The first reason stays. */
	private void endAll(CollectiveException why) {
		this.protocol.clear();
		this.pool.clear();
		this.channels.end();
		if (this.ended == null) {
			this.ended = why;
			if (!this.inFlight.isEmpty()) {
				this.connections.announceFailure();
			}
			while (!this.inFlight.isEmpty()) {
				fail(this.inFlight.removeLast(), why);
			}
		}
	}

	/**
	 * Lets no operation begin any more, and fails those in flight with the group's
	 * verdict, for which it waits without the lock.
	 * @param leaving whether this rank leaves the job, so that there is no verdict
	 * @return whether one could begin until now
	 */
	boolean close(boolean leaving) {
		boolean first;
		boolean abandons;
		try (Locked _ = enter()) {
			first = !this.closed;
			this.closed = true;
			abandons = !this.inFlight.isEmpty();
		}
		if (abandons) {
			this.failures.abandon(leaving);
		}
		end(this.failures.closed());
		return first;
	}

	/** Checks that no small send that has returned was lost with its connection. */
	void requireDelivered(long now) {
		try (Locked _ = enter()) {
			this.failures.requireDelivered(now);
		}
	}

	/** Whether an operation is not done. */
	boolean hasInFlight() {
		try (Locked _ = enter()) {
			return !this.inFlight.isEmpty();
		}
	}

	/** Whether nothing moves any more. */
	boolean ended() {
		return this.ended != null;
	}

	/** Why nothing moves any more, unless this rank has closed the group. */
	@Nullable CollectiveException failure() {
		CollectiveException why = this.ended;
		return this.closed ? null : why;
	}

	/** Operations in flight, not to be changed; requires the lock. */
	List<MessageOperation> inFlight() {
		return this.inFlight;
	}

	/** Connections and queues, to be read; requires the lock. */
	PeerChannels channels() {
		return this.channels;
	}

	/** Whether sends are queued; without the lock, the answer may be out of date. */
	boolean hasQueued() {
		return this.channels.hasQueued();
	}

	/** Whether something needs progress that no synchronous call waits for. */
	boolean hasUnattended() {
		try (Locked _ = enter()) {
			return !ended() && (this.asynchronous > 0 || hasQueued());
		}
	}

	/** A synchronous call begins (1), or ends (-1), to make progress. */
	void countCaller(int change) {
		try (Locked _ = enter()) {
			this.callers += change;
		}
		if (change > 0) {
			wakeSleeper();
		}
	}

	private void wakeSleeper() {
		if (this.asleep.get()) {
			wake();
		}
	}

	/**
	 * Whether synchronous calls make progress: one is under way, or there was one since
	 * the last look and nothing else needs progress.
	 */
	boolean hasCaller() {
		try (Locked _ = enter()) {
			boolean called = this.calls != this.callsSeen;
			this.callsSeen = this.calls;
			return this.callers > 0 || called && this.asynchronous == 0 && !hasQueued();
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
			if (prepareSleep(operation)) {
				this.connections.sleep(maxNanos);
			}
		}
		catch (RuntimeException | Error ex) {
			end(this.failures.broken(ex));
		}
		finally {
			this.asleep.set(false);
		}
	}

	/** After it, whatever ends the sleep also wakes the connections. */
	private boolean prepareSleep(@Nullable MessageOperation operation) {
		try (Locked _ = enter()) {
			if (ended() || operation != null && operation.done()) {
				return false;
			}
			awaitPeers();
			this.connections.prepareSleep((operation != null) ? operation.peer : ALL);
			return true;
		}
	}

	private void awaitPeers() {
		this.awaited.clear();
		for (int i = 0; i < this.inFlight.size(); i++) {
			int peer = this.inFlight.get(i).peer;
			if (peer >= 0) {
				this.awaited.set(peer);
			}
		}
		this.connections.awaitPeers(this.awaited);
	}

	/** Ends the sleep, if any. */
	void wake() {
		this.connections.wake();
	}

}
