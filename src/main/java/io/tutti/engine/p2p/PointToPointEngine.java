package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.DataType;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.Message;
import io.tutti.engine.PointToPoint;
import io.tutti.engine.FailureAgreement;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * One group's messages. The thread of a synchronous call makes progress itself while it
 * waits; at all other times the group's {@link ProgressThread} does, so that messages
 * arrive also while this rank computes or is inside a collective.
 */
public final class PointToPointEngine implements PointToPoint {

	/**
	 * How long small sends may take to leave where the group is aborted anyhow, since an
	 * operation is still in flight when it is closed.
	 */
	private static final Duration ABORTING_DRAIN = Duration.ofSeconds(1);

	private static final int DRAIN_YIELDS = 100;

	private final String group;

	private final FailureLatch latch;

	private final FailureAgreement agreement;

	private final Connections wires;

	private final MessageArguments arguments;

	private final ProgressEngine office;

	private final MessageFailures failures;

	private final BlockingProgress drive;

	private final ProgressThread progressThread;

	private final Duration drain;

	/** A group's messages, without connections yet. */
	public PointToPointEngine(GroupIdentity identity, FailureLatch latch, FailureAgreement agreement, Connections wires,
			MessageSettings settings) {
		this.group = identity.name();
		this.latch = latch;
		this.agreement = agreement;
		this.wires = wires;
		this.drain = settings.drain();
		this.arguments = new MessageArguments(identity.worldSize());
		this.office = new ProgressEngine(identity.rank(), identity.worldSize(), wires, settings.unexpected(),
				this::settled, (cause) -> MessageFailures.broken(identity, cause));
		this.failures = new MessageFailures(identity, latch, this.office);
		this.drive = new BlockingProgress(this.office, this.failures, settings.oversubscribed());
		this.progressThread = new ProgressThread("tutti-r" + identity.worldRank() + "-" + identity.name() + "-messages",
				this.office, this.failures, this.drive);
		if (identity.worldSize() > 1) {
			this.progressThread.wake();
		}
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		this.arguments.requireSend(buffer, type, peer, tag);
		this.office.recycle(call(true, buffer, type, peer, tag, MessageArguments.nanosOf(timeout)), null);
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		this.arguments.requireReceive(buffer, type, source, tag, false);
		Operation receive = call(false, buffer, type, source, tag, MessageArguments.nanosOf(timeout));
		long count = receive.count();
		this.office.recycle(receive, null);
		return count;
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		this.arguments.requireReceive(buffer, type, source, tag, true);
		Operation receive = call(false, buffer, type, source, tag, MessageArguments.nanosOf(timeout));
		Message message = receive.message();
		this.office.recycle(receive, null);
		return message;
	}

	private Operation call(boolean sends, MemorySegment buffer, DataType type, int peer, int tag, long timeoutNanos) {
		Operation operation;
		if (sends) {
			requirePresent(peer);
		}
		this.office.enter();
		try {
			requireUsable();
			operation = this.office.begin(sends, buffer, type, peer, tag, timeoutNanos, null);
			this.office.spin(operation, peer, this.drive.spins());
		}
		finally {
			this.office.leave();
		}
		return await(operation, peer);
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		this.arguments.requireSend(send, type, peer, tag);
		this.arguments.requireReceive(receive, type, source, tag, false);
		MessageArguments.requireDisjoint(send, receive);
		long timeoutNanos = MessageArguments.nanosOf(timeout);
		int first = (peer == source) ? peer : ProgressEngine.ALL;
		Operation coming;
		Operation going;
		requirePresent(peer);
		this.office.enter();
		try {
			requireUsable();
			coming = this.office.begin(false, receive, type, source, tag, timeoutNanos, null);
			going = this.office.begin(true, send, type, peer, tag, timeoutNanos, null);
			this.office.spin(coming, first, this.drive.spins());
		}
		finally {
			this.office.leave();
		}
		await(going, first);
		long count = await(coming, first).count();
		this.office.recycle(coming, going);
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
		long timeoutNanos = MessageArguments.nanosOf(timeout);
		if (sends) {
			requirePresent(peer);
		}
		this.office.enter();
		try {
			requireUsable();
			this.office.begin(sends, buffer, type, peer, tag, timeoutNanos, future);
		}
		finally {
			this.office.leave();
		}
		this.progressThread.wake();
		return future;
	}

	/** A small message to a rank that has left would be buffered for nobody. */
	private void requirePresent(int peer) {
		CollectiveException left = this.failures.left(peer);
		if (left != null) {
			this.office.end(left);
			throw this.agreement.settle(left);
		}
	}

	private void requireUsable() {
		if (this.office.closed()) {
			throw new IllegalStateException("group " + this.group + " is closed");
		}
		this.failures.requireWhole();
	}

	private Operation await(Operation operation, int first) {
		if (!operation.done) {
			driveUntilDone(operation, first);
		}
		if (this.office.postroom().hasLetters()) {
			this.progressThread.wake();
		}
		RuntimeException failure = operation.failure;
		if (failure != null) {
			throw settled(operation, failure);
		}
		Reference.reachabilityFence(operation.buffer);
		return operation;
	}

	/** What ended an operation that did not find it out itself. */
	private RuntimeException settled(Operation operation, RuntimeException failure) {
		return (failure instanceof CollectiveException seen)
				? MessageFailures.during(operation, this.agreement.settle(seen), System.nanoTime()) : failure;
	}

	private void driveUntilDone(Operation operation, int first) {
		this.office.countDriver(1);
		try {
			this.drive.until(operation, first);
		}
		catch (CollectiveException ex) {
			this.office.end(ex);
			CollectiveException cause = this.agreement.settle(ex);
			throw (cause == ex) ? ex : MessageFailures.during(operation, cause, System.nanoTime());
		}
		finally {
			this.office.countDriver(-1);
			if (this.office.hasUnattended()) {
				this.progressThread.wake();
			}
		}
	}

	@Override
	public void wake() {
		this.office.wake();
		this.progressThread.wake();
	}

	@Override
	public void close() {
		CollectiveException unsent = drain();
		this.office.enter();
		try {
			if (!this.office.close()) {
				return;
			}
			if (!this.office.postroom().open().isEmpty()) {
				this.failures.abandon();
			}
			this.office.postroom().end(this.failures.closed());
		}
		finally {
			this.office.leave();
		}
		this.progressThread.close();
		this.wires.close();
		if (unsent != null) {
			throw unsent;
		}
	}

	/**
	 * Sends what small sends have left behind.
	 * @return why the group is broken if it cannot be sent in time
	 */
	private @Nullable CollectiveException drain() {
		long start = System.nanoTime();
		boolean aborting = this.office.hasOperations();
		Duration limit = (aborting && this.drain.compareTo(ABORTING_DRAIN) > 0) ? ABORTING_DRAIN : this.drain;
		this.office.countDriver(1);
		try {
			for (int idleRounds = 0; this.office.hasQueued() && this.latch.failure() == null; idleRounds++) {
				boolean interrupted = Thread.currentThread().isInterrupted();
				Duration waited = Duration.ofNanos(System.nanoTime() - start);
				if (interrupted || waited.compareTo(limit) > 0) {
					return aborting ? null : this.agreement.settle(this.failures.unsent(waited, interrupted));
				}
				if (this.office.progress(ProgressEngine.ALL)) {
					idleRounds = 0;
				}
				else if (idleRounds < DRAIN_YIELDS) {
					Thread.yield();
				}
				else {
					this.office.sleep(BlockingProgress.SLEEP_NANOS, null);
				}
			}
			return null;
		}
		finally {
			this.office.countDriver(-1);
		}
	}

}
