package io.tutti.engine.backend.libmpi;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageArguments;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import org.jspecify.annotations.Nullable;

/**
 * Point-to-point messages of one group by an MPI library, which does the matching. The
 * library sets the eager limit and does not compare element types.
 */
public final class LibMpiMessages implements PointToPoint {

	/** How long a message may take to arrive from a rank that has left since. */
	private static final Duration ARRIVING = Duration.ofMillis(500);

	private final GroupIdentity identity;

	private final MpiCommunicator communicator;

	private final FailureLatch latch;

	private final Duration gracePeriod;

	private final MessageArguments arguments;

	private final Set<MpiMessage> open = ConcurrentHashMap.newKeySet();

	private volatile boolean closed;

	/**
	 * @param gracePeriod time between a failure and the abort of the job
	 */
	public LibMpiMessages(GroupIdentity identity, MpiCommunicator communicator, FailureLatch latch,
			Duration gracePeriod) {
		this.identity = identity;
		this.communicator = communicator;
		this.latch = latch;
		this.gracePeriod = gracePeriod;
		this.arguments = new MessageArguments(identity.worldSize());
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		await(beginSend(buffer, type, peer, tag, timeout));
	}

	@Override
	public CompletableFuture<Message> sendAsync(MemorySegment buffer, DataType type, int peer, int tag,
			Duration timeout) {
		return beginSend(buffer, type, peer, tag, timeout).future();
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return await(beginReceive(buffer, type, source, tag, false, timeout)).count();
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return await(beginReceive(buffer, type, source, tag, true, timeout));
	}

	@Override
	public CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag,
			Duration timeout) {
		return beginReceive(buffer, type, source, tag, true, timeout).future();
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		this.arguments.requireSend(send, type, peer, tag);
		MessageArguments.requireDisjoint(send, receive);
		MpiMessage incoming = beginReceive(receive, type, source, tag, false, timeout);
		await(beginSend(send, type, peer, tag, timeout));
		return await(incoming).count();
	}

	private MpiMessage beginSend(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		this.arguments.requireSend(buffer, type, peer, tag);
		requireTag(tag);
		return begin(new MpiMessage(this, true, buffer, type, peer, tag, nanos(buffer, type, timeout)));
	}

	private MpiMessage beginReceive(MemorySegment buffer, DataType type, int source, int tag, boolean anyAllowed,
			Duration timeout) {
		this.arguments.requireReceive(buffer, type, source, tag, anyAllowed);
		requireTag(tag);
		return begin(new MpiMessage(this, false, buffer, type, source, tag, nanos(buffer, type, timeout)));
	}

	private static long nanos(MemorySegment buffer, DataType type, Duration timeout) {
		long count = buffer.byteSize() / type.bytes();
		if (count > Integer.MAX_VALUE) {
			throw new IllegalArgumentException(
					"an MPI library accepts 0.." + Integer.MAX_VALUE + " elements per message, got " + count);
		}
		return Deadline.nanosOf(timeout);
	}

	private void requireTag(int tag) {
		int largest = this.communicator.world().largestTag();
		if (tag > largest) {
			throw new IllegalArgumentException("tag must be in 0.." + largest + " with this MPI library, got " + tag);
		}
	}

	private MpiMessage begin(MpiMessage message) {
		requireOpen();
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw this.identity.exception(earlier, null);
		}
		message.reset(null);
		this.open.add(message);
		if (this.closed) {
			// close() may have failed the open messages before this one was added.
			this.open.remove(message);
			requireOpen();
		}
		this.communicator.world().submit(message);
		return message;
	}

	private void requireOpen() {
		if (this.closed) {
			throw new IllegalStateException("group " + this.identity.name() + " is closed");
		}
	}

	/** The library's thread checks the deadline; this thread may be interrupted. */
	private Message await(MpiMessage message) {
		try {
			return message.future().get();
		}
		catch (ExecutionException ex) {
			throw MpiCalls.rethrown(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			CollectiveException seen = failed(Failure.Kind.ABORTED, message, System.nanoTime(),
					List.of(this.identity.rank()), "the calling thread was interrupted in a " + message);
			throw (CollectiveException) settled(seen);
		}
	}

	MpiCommunicator communicator() {
		return this.communicator;
	}

	void finished(MpiMessage message) {
		this.open.remove(message);
	}

	/** The failure that ends a message in progress, or {@code null}. */
	@Nullable CollectiveException failureOf(MpiMessage message, long nowNanos) {
		Failure verdict = this.latch.failure();
		if (verdict != null) {
			return this.identity.exception(verdict, null);
		}
		List<Integer> peers = (message.peer() >= 0) ? List.of(message.peer()) : List.of();
		if (!this.latch.departed().isEmpty() && peersOf(message).stream().allMatch(this::hasLeft)) {
			int left = this.identity.members().get(peersOf(message).getFirst());
			return failed(Failure.departure(this.identity.name()), message, nowNanos, peers,
					message + ": " + this.latch.departed().describe(left));
		}
		return message.overdue(nowNanos)
				? failed(Failure.Kind.TIMEOUT, message, nowNanos, peers, message + " did not complete") : null;
	}

	/** The ranks that may complete a message. */
	private List<Integer> peersOf(MpiMessage message) {
		return (message.peer() >= 0) ? List.of(message.peer())
				: IntStream.range(0, this.identity.worldSize()).boxed().toList();
	}

	private boolean hasLeft(int peer) {
		return this.latch.departed().isAbsentFor(this.identity.members().get(peer), ARRIVING);
	}

	MessageMismatchException tooLarge(int source, int tag, DataType type, long room) {
		return new MessageMismatchException(source, tag, new MessageMismatchException.Receive(this.identity.worldRank(),
				this.identity.jobSize(), this.identity.name(), type, room));
	}

	private CollectiveException failed(Failure.Kind kind, MpiMessage message, long nowNanos, List<Integer> peers,
			String detail) {
		List<Integer> ranks = peers.stream().map(this.identity.members()::get).toList();
		return this.identity.exception(new Failure(kind, this.identity.name(), -1, null, ranks, detail,
				message.elapsed(nowNanos), message.timeout()), null);
	}

	/** Maps a local failure to the group's verdict. A broken group ends the job. */
	RuntimeException settled(RuntimeException seen) {
		if (seen instanceof CollectiveException failure) {
			CollectiveException settled = this.latch.agree(failure);
			this.communicator.world().abortAfter(settled.failure(), this.gracePeriod);
			return settled;
		}
		return seen;
	}

	/** Not needed: the library's thread polls the latch. */
	@Override
	public void wake() {
	}

	@Override
	public void close() {
		this.closed = true;
		if (!this.open.isEmpty()) {
			this.latch.abort("this rank closed the group during a send or receive");
			Failure verdict = Objects.requireNonNull(this.latch.failure());
			this.open.forEach((message) -> message.fail(this.identity.exception(verdict, null)));
		}
	}

}
