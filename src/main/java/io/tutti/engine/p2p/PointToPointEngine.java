package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageOperation.Kind;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * One group's messages. The thread of a synchronous call makes progress itself while it
 * waits; at all other times the group's {@link ProgressThread} does, so that messages
 * arrive also while this rank computes or is inside a collective.
 */
public final class PointToPointEngine implements PointToPoint {

	/**
	 * Drain limit where closing breaks the group in any case, since an operation is in
	 * flight, and no send that has returned is lost.
	 */
	private static final Duration ABORTING_DRAIN = Duration.ofSeconds(1);

	/** Rounds between two looks at connections that a call does not wait for. */
	private static final int OTHERS_EVERY = 32;

	private final FailureLatch latch;

	private final Connections connections;

	private final ProgressEngine engine;

	private final MessageFailures failures;

	private final IdleStrategy.Limits limits;

	private final ProgressThread progressThread;

	private final Duration drain;

	/** A group's messages, without connections yet. */
	public PointToPointEngine(GroupIdentity identity, FailureLatch latch, Connections connections,
			MessageSettings settings) {
		this.latch = latch;
		this.connections = connections;
		this.drain = settings.drain();
		this.engine = new ProgressEngine(identity, latch, connections, settings.unexpected());
		this.failures = this.engine.failures();
		this.limits = settings.oversubscribed() ? IdleStrategy.Limits.OVERSUBSCRIBED_MESSAGE
				: IdleStrategy.Limits.MESSAGE;
		this.progressThread = new ProgressThread("tutti-r" + identity.worldRank() + "-" + identity.name() + "-messages",
				this.engine, this.limits);
		if (identity.worldSize() > 1) {
			this.progressThread.wake();
		}
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		transfer(Kind.SEND, buffer, type, peer, tag, timeout);
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return transfer(Kind.RECEIVE, buffer, type, source, tag, timeout);
	}

	/** Sends, or receives and returns how many elements. */
	private long transfer(Kind kind, MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		long timeoutNanos = Deadline.nanosOf(timeout);
		MessageOperation operation;
		try (ProgressEngine.Locked _ = enter(kind, peer)) {
			operation = begin(kind, buffer, type, peer, tag, timeoutNanos);
			if (succeeded(operation)) {
				return result(operation);
			}
		}
		await(operation, peer);
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			return result(operation);
		}
	}

	/**
	 * Whether an operation has succeeded and leaves nothing to do. Requires the lock.
	 */
	private boolean succeeded(MessageOperation operation) {
		return operation.done() && operation.failure == null && !this.engine.hasQueued();
	}

	/** Elements that an operation has received; recycles it. Requires the lock. */
	private long result(MessageOperation operation) {
		long count = operation.count();
		this.engine.recycle(operation);
		return count;
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return messageOf(call(Kind.RECEIVE, buffer, type, source, tag, timeout));
	}

	@Override
	public Message probe(int source, int tag, Duration timeout) {
		return messageOf(call(Kind.PROBE, MemorySegment.NULL, DataType.INT8, source, tag, timeout));
	}

	private Message messageOf(MessageOperation operation) {
		Message message = operation.message();
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			this.engine.recycle(operation);
		}
		return message;
	}

	/** Searches on the calling thread. */
	@Override
	public @Nullable Message peek(int source, int tag, Duration timeout) {
		try {
			return this.engine.peek(source, tag);
		}
		catch (CollectiveException ex) {
			throw this.latch.reportAndAwaitVerdict(ex);
		}
	}

	private MessageOperation call(Kind kind, MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		long timeoutNanos = Deadline.nanosOf(timeout);
		MessageOperation operation;
		try (ProgressEngine.Locked _ = enter(kind, peer)) {
			operation = begin(kind, buffer, type, peer, tag, timeoutNanos);
		}
		return await(operation, peer);
	}

	/**
	 * Checks that the receiver of a send has not left, which fails everything in flight,
	 * and takes the lock.
	 */
	private ProgressEngine.Locked enter(Kind kind, int peer) {
		if (kind == Kind.SEND) {
			requirePresent(peer);
		}
		return this.engine.enter();
	}

	/** Begins a synchronous operation, and waits as long as it spins. */
	private MessageOperation begin(Kind kind, MemorySegment buffer, DataType type, int peer, int tag,
			long timeoutNanos) {
		this.engine.requireUsable();
		MessageOperation operation = this.engine.begin(kind, buffer, type, peer, tag, timeoutNanos, null);
		this.engine.spin(operation, peer, this.limits.spins());
		return operation;
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		long timeoutNanos = Deadline.nanosOf(timeout);
		int first = (peer == source) ? peer : ProgressEngine.ALL;
		MessageOperation receiving;
		MessageOperation sending;
		try (ProgressEngine.Locked _ = enter(Kind.SEND, peer)) {
			this.engine.requireUsable();
			receiving = this.engine.begin(Kind.RECEIVE, receive, type, source, tag, timeoutNanos, null);
			sending = this.engine.begin(Kind.SEND, send, type, peer, tag, timeoutNanos, null);
			receiving.independent = false;
			sending.independent = false;
			this.engine.spin(receiving, first, this.limits.spins());
			if (succeeded(sending) && succeeded(receiving)) {
				return result(sending, receiving);
			}
			// One limit for both: the receive would begin its own when the send is done.
			long now = System.nanoTime();
			sending.elapsedNanos(now);
			receiving.elapsedNanos(now);
		}
		try {
			await(sending, first);
		}
		catch (RuntimeException ex) {
			end(receiving, first, ex);
			throw ex;
		}
		await(receiving, first);
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			return result(sending, receiving);
		}
	}

	/** Elements that were received; recycles both. Requires the lock. */
	private long result(MessageOperation sending, MessageOperation receiving) {
		this.engine.recycle(sending);
		return result(receiving);
	}

	/**
	 * Ends a receive whose send has failed, so that no later message fills its buffer. If
	 * a message has matched it, waits for that message.
	 */
	private void end(MessageOperation receiving, int first, RuntimeException why) {
		try (ProgressEngine.Locked _ = this.engine.enter()) {
			if (receiving.done() || this.engine.withdraw(receiving, why)) {
				return;
			}
		}
		try {
			await(receiving, first);
		}
		catch (RuntimeException ex) {
			if (ex != why) {
				why.addSuppressed(ex);
			}
		}
	}

	@Override
	public CompletableFuture<Message> sendAsync(MemorySegment buffer, DataType type, int peer, int tag,
			Duration timeout) {
		return beginAsync(Kind.SEND, buffer, type, peer, tag, timeout);
	}

	@Override
	public CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag,
			Duration timeout) {
		return beginAsync(Kind.RECEIVE, buffer, type, source, tag, timeout);
	}

	@Override
	public boolean cancel(CompletableFuture<Message> operation) {
		CompletableFuture<Boolean> cancellation = this.engine.cancel(operation);
		this.progressThread.wake();
		if (!cancellation.join()) {
			return false;
		}
		operation.handle((message, failure) -> null).join();
		return true;
	}

	private CompletableFuture<Message> beginAsync(Kind kind, MemorySegment buffer, DataType type, int peer, int tag,
			Duration timeout) {
		CompletableFuture<Message> future = new CompletableFuture<>();
		long timeoutNanos = Deadline.nanosOf(timeout);
		try (ProgressEngine.Locked _ = enter(kind, peer)) {
			this.engine.requireUsable();
			this.engine.begin(kind, buffer, type, peer, tag, timeoutNanos, future);
		}
		this.progressThread.wake();
		return future;
	}

	private void requirePresent(int peer) {
		try {
			this.failures.requirePresent(peer);
		}
		catch (CollectiveException ex) {
			this.engine.requireOpen();
			this.engine.end(ex);
			throw this.latch.reportAndAwaitVerdict(ex);
		}
	}

	private MessageOperation await(MessageOperation operation, int first) {
		if (!operation.done()) {
			makeProgress(operation, first);
		}
		if (this.engine.hasQueued()) {
			this.progressThread.wake();
		}
		RuntimeException failure = operation.failure;
		if (failure != null) {
			throw this.failures.verdict(operation, failure);
		}
		Reference.reachabilityFence(operation.buffer);
		return operation;
	}

	private void makeProgress(MessageOperation operation, int first) {
		this.engine.countCaller(1);
		try {
			IdleStrategy idle = idle(operation);
			idle.begin();
			for (int round = 1; !operation.done(); round++) {
				boolean all = idle.slept() || round % OTHERS_EVERY == 0;
				this.engine.step(idle, all ? ProgressEngine.ALL : first);
			}
		}
		catch (CollectiveException ex) {
			throw broken(operation, ex);
		}
		catch (RuntimeException | Error ex) {
			throw broken(operation, this.failures.broken(ex));
		}
		finally {
			this.engine.countCaller(-1);
			if (this.engine.hasUnattended()) {
				this.progressThread.wake();
			}
		}
	}

	private CollectiveException broken(MessageOperation operation, CollectiveException seen) {
		this.engine.end(seen);
		CollectiveException cause = this.latch.reportAndAwaitVerdict(seen);
		return (cause == seen) ? seen : MessageFailures.during(operation, cause, System.nanoTime());
	}

	private IdleStrategy idle(MessageOperation operation) {
		IdleStrategy idle = operation.idle;
		if (idle == null) {
			idle = new IdleStrategy(this.limits, new Waiting(operation));
			operation.idle = idle;
		}
		return idle;
	}

	@Override
	public void wake() {
		this.engine.wake();
		this.progressThread.wake();
	}

	@Override
	public void close() {
		close(false);
	}

	@Override
	public void leave() {
		close(true);
	}

	private void close(boolean leaving) {
		CollectiveException unsent = drain();
		if (!this.engine.close(leaving)) {
			return;
		}
		this.progressThread.close();
		this.connections.close();
		if (unsent != null) {
			throw unsent;
		}
	}

	/**
	 * Sends the queued messages of small sends that have returned.
	 * @return why the group is broken if they cannot be sent in time
	 */
	private @Nullable CollectiveException drain() {
		boolean aborting = this.engine.hasInFlight() && !this.failures.hasReturnedSends();
		boolean shorter = aborting && this.drain.compareTo(ABORTING_DRAIN) > 0;
		Draining draining = new Draining(shorter ? ABORTING_DRAIN : this.drain);
		IdleStrategy idle = new IdleStrategy(this.limits, draining);
		this.engine.countCaller(1);
		try {
			while (this.failures.hasUnsent() && !this.engine.ended() && this.latch.failure() == null) {
				this.engine.step(idle, ProgressEngine.ALL);
			}
			CollectiveException failure = this.engine.failure();
			if (failure != null && this.latch.failure() == null && this.failures.hasUnsent()) {
				throw failure;
			}
			return null;
		}
		catch (CollectiveException ex) {
			return aborting ? null : this.latch.reportAndAwaitVerdict(ex);
		}
		finally {
			this.engine.countCaller(-1);
		}
	}

	/** Waits until an operation is done. */
	private final class Waiting implements IdleStrategy.Condition {

		private final MessageOperation operation;

		Waiting(MessageOperation operation) {
			this.operation = operation;
		}

		@Override
		public void check(long nowNanos) {
			PointToPointEngine.this.failures.requireAlive(this.operation, nowNanos);
			PointToPointEngine.this.failures.requireNotInterrupted(this.operation, nowNanos);
		}

		@Override
		public void sleep(long maxNanos) {
			long remainingNanos = this.operation.remainingNanos(System.nanoTime());
			PointToPointEngine.this.engine.sleep(Math.min(maxNanos, remainingNanos + 1), this.operation);
		}

	}

	/** Waits until all queued sends are sent. */
	private final class Draining implements IdleStrategy.Condition {

		private final long startNanos = System.nanoTime();

		private final Duration limit;

		Draining(Duration limit) {
			this.limit = limit;
		}

		@Override
		public void check(long nowNanos) {
			PointToPointEngine.this.engine.requireDelivered(nowNanos);
			Duration waited = Duration.ofNanos(nowNanos - this.startNanos);
			boolean interrupted = Thread.currentThread().isInterrupted();
			if (interrupted || waited.compareTo(this.limit) > 0) {
				throw PointToPointEngine.this.failures.unsent(waited, interrupted);
			}
		}

		@Override
		public void sleep(long maxNanos) {
			PointToPointEngine.this.engine.sleep(maxNanos, null);
		}

	}

}
