package io.tutti.engine.transport.message;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.DataType;
import io.tutti.engine.Failure;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.Message;
import io.tutti.engine.PointToPoint;
import io.tutti.engine.Settlement;
import io.tutti.engine.transport.Wires;
import org.jspecify.annotations.Nullable;

/**
 * One group's messages. The thread of a synchronous call moves everything on itself while
 * it waits; what nobody waits for is moved on by one thread of the group's, which starts
 * with the first such thing.
 */
public final class Messenger implements PointToPoint {

	private static final int SPINS = 64;

	/** Rounds between two looks at connections that a call does not wait for. */
	private static final int OTHERS_EVERY = 32;

	private static final int ALL = -1;

	private static final long YIELD_NANOS = 300_000;

	/** Longest sleep: what bounds how late a failure is seen where nothing wakes us. */
	private static final long SLEEP_NANOS = 20_000_000;

	/** Longest sleep of a thread that another one moves things on for. */
	private static final long BYSTANDER_NANOS = 1_000_000;

	private static final Duration FAREWELL = Duration.ofSeconds(1);

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final Settlement settlement;

	private final Wires wires;

	private final Postroom postroom;

	private final MessageArguments arguments;

	private final MessageWorker worker;

	private final long yieldNanos;

	private final ReentrantLock lock = new ReentrantLock();

	/** Held by the one thread that sleeps on the connections. */
	private final AtomicBoolean asleep = new AtomicBoolean();

	private final ArrayDeque<Operation> spares = new ArrayDeque<>();

	/** Synchronous calls that move things on. */
	private volatile int drivers;

	/** Asynchronous operations that are under way. */
	private int unattended;

	private volatile boolean closed;

	/**
	 * A group's messages, without connections yet.
	 * @param crowded whether the host has fewer cores than ranks
	 */
	public Messenger(GroupIdentity identity, FailureLatch latch, Settlement settlement, Wires wires, boolean crowded) {
		this.identity = identity;
		this.latch = latch;
		this.settlement = settlement;
		this.wires = wires;
		this.postroom = new Postroom(identity.rank(), identity.worldSize(), wires, this::finished);
		this.arguments = new MessageArguments(identity.worldSize());
		this.worker = new MessageWorker("tutti-r" + identity.worldRank() + "-" + identity.name() + "-messages",
				this::attend);
		this.yieldNanos = crowded ? 10 * YIELD_NANOS : YIELD_NANOS;
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		this.arguments.requireSend(buffer, type, peer, tag);
		Operation send = begin(true, buffer, type, peer, tag, MessageArguments.nanosOf(timeout), null);
		recycle(await(send));
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		this.arguments.requireReceive(buffer, type, source, tag, false);
		Operation receive = await(begin(false, buffer, type, source, tag, MessageArguments.nanosOf(timeout), null));
		long count = receive.count();
		recycle(receive);
		return count;
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		this.arguments.requireReceive(buffer, type, source, tag, true);
		Operation receive = await(begin(false, buffer, type, source, tag, MessageArguments.nanosOf(timeout), null));
		Message message = receive.message();
		recycle(receive);
		return message;
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		this.arguments.requireSend(send, type, peer, tag);
		this.arguments.requireReceive(receive, type, source, tag, false);
		MessageArguments.requireDisjoint(send, receive);
		long timeoutNanos = MessageArguments.nanosOf(timeout);
		Operation coming = begin(false, receive, type, source, tag, timeoutNanos, null);
		Operation going = begin(true, send, type, peer, tag, timeoutNanos, null);
		recycle(await(going));
		long count = await(coming).count();
		recycle(coming);
		return count;
	}

	@Override
	public CompletableFuture<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		this.arguments.requireSend(buffer, type, peer, tag);
		return beginAsync(true, buffer, type, peer, tag, timeout).thenApply((message) -> null);
	}

	@Override
	public CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag,
			Duration timeout) {
		this.arguments.requireReceive(buffer, type, source, tag, true);
		return beginAsync(false, buffer, type, source, tag, timeout);
	}

	private CompletableFuture<Message> beginAsync(boolean sends, MemorySegment buffer, DataType type, int peer, int tag,
			Duration timeout) {
		CompletableFuture<Message> future = new CompletableFuture<>();
		begin(sends, buffer, type, peer, tag, MessageArguments.nanosOf(timeout), future);
		this.worker.wake();
		return future;
	}

	private Operation begin(boolean sends, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos,
			@Nullable CompletableFuture<Message> future) {
		this.lock.lock();
		try {
			requireUsable();
			Operation spare = this.spares.poll();
			Operation operation = (spare != null) ? spare : new Operation();
			operation.set(sends, buffer, type, peer, tag, timeoutNanos);
			operation.future = future;
			operation.waiter = (future == null) ? Thread.currentThread() : null;
			if (future != null) {
				this.unattended++;
			}
			this.postroom.start(operation);
			if (this.asleep.get() && this.postroom.hasLetters()) {
				this.wires.wake();
			}
			return operation;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void requireUsable() {
		if (this.closed) {
			throw new IllegalStateException("group " + this.identity.name() + " is closed");
		}
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw CollectiveException.of(this.identity.worldRank(), earlier, null);
		}
	}

	private Operation await(Operation operation) {
		if (!operation.done) {
			driveUntilDone(operation);
		}
		if (this.postroom.hasLetters()) {
			this.worker.wake();
		}
		RuntimeException failure = operation.failure;
		if (failure == null) {
			operation.deliver();
			Reference.reachabilityFence(operation.buffer);
			return operation;
		}
		throw (failure instanceof CollectiveException seen) ? this.settlement.settle(seen) : failure;
	}

	private void driveUntilDone(Operation operation) {
		countDriver(1);
		try {
			drive(operation);
		}
		catch (CollectiveException ex) {
			end(ex);
			throw this.settlement.settle(ex);
		}
		finally {
			countDriver(-1);
			if (this.worker.started()) {
				this.worker.wake();
			}
		}
	}

	private void countDriver(int change) {
		this.lock.lock();
		this.drivers += change;
		this.lock.unlock();
	}

	private void drive(Operation operation) {
		int idleRounds = 0;
		long idleSince = 0;
		while (!operation.done) {
			int first = (idleRounds % OTHERS_EVERY == OTHERS_EVERY - 1) ? ALL : operation.peer;
			if (progress(first)) {
				idleRounds = 0;
			}
			else if (idleRounds++ < SPINS) {
				Thread.onSpinWait();
			}
			else {
				long now = System.nanoTime();
				idleSince = (idleRounds == SPINS + 1) ? now : idleSince;
				requireAlive(operation, now);
				requireNotInterrupted(operation, now);
				if (now - idleSince < this.yieldNanos) {
					Thread.yield();
				}
				else {
					sleep(Math.min(SLEEP_NANOS, operation.timeoutNanos - (now - operation.startNanos) + 1), operation);
					idleRounds = OTHERS_EVERY * (1 + SPINS / OTHERS_EVERY) - 1;
				}
			}
		}
	}

	private boolean progress(int first) {
		this.lock.lock();
		try {
			return this.postroom.progress(first);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void sleep(long maxNanos, @Nullable Operation operation) {
		if (!this.asleep.compareAndSet(false, true)) {
			LockSupport.parkNanos(Math.min(maxNanos, BYSTANDER_NANOS));
			return;
		}
		try {
			this.lock.lock();
			try {
				if (this.closed || this.postroom.ended()) {
					return;
				}
				this.wires.prepareSleep((operation != null) ? operation.peer : ALL);
			}
			finally {
				this.lock.unlock();
			}
			if (operation == null || !operation.done) {
				this.wires.sleep(maxNanos);
			}
		}
		finally {
			this.asleep.set(false);
		}
	}

	private void requireAlive(Operation operation, long now) {
		Failure verdict = this.latch.failure();
		if (verdict != null) {
			throw CollectiveException.of(this.identity.worldRank(), verdict, null);
		}
		String lost = this.postroom.lost(operation);
		if (lost != null && !operation.done) {
			throw failure(Failure.Kind.PEER_LOST, operation, peersOf(operation), operation + ": " + lost, now);
		}
		if (now - operation.startNanos >= operation.timeoutNanos) {
			throw failure(Failure.Kind.TIMEOUT, operation, peersOf(operation), operation + " was not done", now);
		}
	}

	private void requireNotInterrupted(Operation operation, long now) {
		if (Thread.currentThread().isInterrupted()) {
			throw failure(Failure.Kind.ABORTED, operation, List.of(this.identity.rank()),
					"the calling thread was interrupted in a " + operation, now);
		}
	}

	private static List<Integer> peersOf(Operation operation) {
		return (operation.peer >= 0) ? List.of(operation.peer) : List.of();
	}

	private CollectiveException failure(Failure.Kind kind, Operation operation, List<Integer> groupRanks, String detail,
			long now) {
		List<Integer> worldRanks = groupRanks.stream().map(this.identity.members()::get).toList();
		return CollectiveException
			.of(this.identity.worldRank(),
					new Failure(kind, this.identity.name(), -1, null, worldRanks, detail,
							Duration.ofNanos(now - operation.startNanos), Duration.ofNanos(operation.timeoutNanos)),
					null);
	}

	/** Under the lock. */
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
		if (failure == null) {
			operation.deliver();
			Message message = operation.message();
			recycle(operation);
			future.complete(message);
		}
		else {
			future.completeExceptionally(
					(failure instanceof CollectiveException seen) ? this.settlement.settle(seen) : failure);
		}
	}

	private void recycle(Operation operation) {
		this.lock.lock();
		operation.clear();
		this.spares.push(operation);
		this.lock.unlock();
	}

	/** Moves on what nobody waits for, on the worker thread, until there is no such. */
	private void attend() {
		int idleRounds = 0;
		long idleSince = 0;
		while (hasUnattended()) {
			if (this.drivers > 0) {
				LockSupport.parkNanos(BYSTANDER_NANOS);
			}
			else if (progress(ALL)) {
				idleRounds = 0;
				continue;
			}
			else if (idleRounds++ < SPINS) {
				Thread.onSpinWait();
				continue;
			}
			long now = System.nanoTime();
			idleSince = (idleRounds == SPINS + 1) ? now : idleSince;
			if (!inspect(now)) {
				return;
			}
			if (this.drivers == 0 && now - idleSince >= this.yieldNanos) {
				sleep(Math.min(SLEEP_NANOS, soonestNanos(now)), null);
				idleRounds = SPINS + 1;
			}
			else {
				Thread.yield();
			}
		}
	}

	private boolean hasUnattended() {
		this.lock.lock();
		try {
			return !this.closed && !this.postroom.ended() && (this.unattended > 0 || this.postroom.hasLetters());
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Looks for operations that nobody waits for and that cannot be done any more. */
	private boolean inspect(long now) {
		this.lock.lock();
		try {
			Failure verdict = this.latch.failure();
			if (verdict != null) {
				this.postroom.end(CollectiveException.of(this.identity.worldRank(), verdict, null));
				return false;
			}
			for (Operation operation : this.postroom.open()) {
				if (operation.future != null) {
					requireAlive(operation, now);
				}
			}
			return true;
		}
		catch (CollectiveException ex) {
			this.postroom.end(ex);
			return false;
		}
		finally {
			this.lock.unlock();
		}
	}

	private long soonestNanos(long now) {
		this.lock.lock();
		try {
			long soonest = SLEEP_NANOS;
			for (Operation operation : this.postroom.open()) {
				soonest = Math.min(soonest, operation.timeoutNanos - (now - operation.startNanos) + 1);
			}
			return Math.max(1, soonest);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void end(CollectiveException why) {
		this.lock.lock();
		try {
			this.postroom.end(why);
		}
		finally {
			this.lock.unlock();
		}
		wake();
	}

	@Override
	public void wake() {
		this.wires.wake();
		this.worker.wake();
	}

	@Override
	public void close() {
		seeOff();
		this.lock.lock();
		try {
			if (this.closed) {
				return;
			}
			this.closed = true;
			if (!this.postroom.open().isEmpty()) {
				this.latch.trip(Failure.outside(Failure.Kind.ABORTED, this.identity.name(),
						List.of(this.identity.worldRank()), "this rank closed the group during a send or receive"));
				this.postroom.end(abandoned());
			}
			this.postroom.end(abandoned());
		}
		finally {
			this.lock.unlock();
		}
		this.worker.close();
		this.wires.close();
	}

	private CollectiveException abandoned() {
		Failure failure = this.latch.failure();
		return CollectiveException.of(this.identity.worldRank(),
				(failure != null) ? failure : Failure.outside(Failure.Kind.ABORTED, this.identity.name(),
						List.of(this.identity.worldRank()), "this rank closed the group"),
				null);
	}

	/** What small sends have left behind gets a little time to leave. */
	private void seeOff() {
		long start = System.nanoTime();
		while (hasFarewells() && System.nanoTime() - start < FAREWELL.toNanos()) {
			if (!progress(ALL)) {
				Thread.yield();
			}
		}
	}

	private boolean hasFarewells() {
		this.lock.lock();
		try {
			return !this.closed && !this.postroom.ended() && this.postroom.hasLetters() && this.latch.failure() == null;
		}
		finally {
			this.lock.unlock();
		}
	}

}
