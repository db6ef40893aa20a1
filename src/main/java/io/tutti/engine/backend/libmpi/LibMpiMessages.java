package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.spi.WithdrawnMessageException;
import org.jspecify.annotations.Nullable;

/**
 * Point-to-point messages of one group by an MPI library, which does the matching. The
 * library sets the eager limit. The element type is a part of the tag.
 */
public final class LibMpiMessages implements PointToPoint {

	/** How long a message may take to arrive from a rank that has left since. */
	private static final Duration ARRIVING = Duration.ofMillis(500);

	/** Interval in which a probe that waits asks the library. */
	private static final long PROBE_NANOS = 100_000;

	/**
	 * Interval in which a probe checks its deadline while the library does not answer.
	 */
	private static final long CHECK_NANOS = 20_000_000;

	/**
	 * How long after the deadline the library's thread may end a message: longer than a
	 * withdrawal takes.
	 */
	private static final long UNANSWERED_NANOS = 2 * MpiMessage.WITHDRAWAL.toNanos();

	/** The sum with the time above must not overflow. */
	private static final long LONGEST_NANOS = Long.MAX_VALUE / 2;

	/** Large enough for the status of either family. */
	private static final long STATUS_BYTES = 64;

	private final GroupIdentity identity;

	private final MpiCommunicator communicator;

	private final FailureLatch latch;

	/** Messages in progress, by the future that their caller got. */
	private final Map<CompletableFuture<Message>, MpiMessage> open = new ConcurrentHashMap<>();

	/** The status of a probe; only the library's thread accesses it. */
	private final MemorySegment probed = Arena.ofAuto().allocate(STATUS_BYTES, Long.BYTES);

	private volatile boolean closed;

	public LibMpiMessages(GroupIdentity identity, MpiCommunicator communicator, FailureLatch latch) {
		this.identity = identity;
		this.communicator = communicator;
		this.latch = latch;
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		await(beginSend(buffer, type, peer, tag, timeout));
	}

	@Override
	public CompletableFuture<Message> sendAsync(MemorySegment buffer, DataType type, int peer, int tag,
			Duration timeout) {
		return expiring(beginSend(buffer, type, peer, tag, timeout));
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return await(beginReceive(buffer, type, source, tag, timeout, true)).count();
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return await(beginReceive(buffer, type, source, tag, timeout, true));
	}

	@Override
	public CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag,
			Duration timeout) {
		return expiring(beginReceive(buffer, type, source, tag, timeout, true));
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		MpiMessage incoming = beginReceive(receive, type, source, tag, timeout, false);
		await(beginSend(send, type, peer, tag, timeout));
		return await(incoming).count();
	}

	private MpiMessage beginSend(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		return begin(new MpiMessage(this, true, buffer, type, peer, tag, Deadline.after(timeout), false));
	}

	private MpiMessage beginReceive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout,
			boolean endsAlone) {
		return begin(new MpiMessage(this, false, buffer, type, source, tag, Deadline.after(timeout), endsAlone));
	}

	@Override
	public Message probe(int source, int tag, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		String probe = "probe for a message from " + nameOf(source, tag);
		while (true) {
			CompletableFuture<Optional<Message>> search = search(source, tag);
			while (!ends(search, CHECK_NANOS)) {
				check(probe, source, deadline);
			}
			Optional<Message> found = result(search);
			if (found.isPresent()) {
				return found.get();
			}
			check(probe, source, deadline);
			LockSupport.parkNanos(this, PROBE_NANOS);
		}
	}

	/** As in {@code rank 1 with tag 7}, with the world rank. */
	String nameOf(int peer, int tag) {
		return ((peer == Message.ANY_SOURCE) ? "any rank" : "rank " + this.identity.members().get(peer)) + " with "
				+ ((tag == Message.ANY_TAG) ? "any tag" : "tag " + tag);
	}

	/** Checks that a probe may go on. */
	private void check(String probe, int source, Deadline deadline) {
		if (Thread.currentThread().isInterrupted()) {
			throw settled(interruption(probe, deadline));
		}
		CollectiveException failure = failureOf(probe, source, deadline, " found none; the group stays usable");
		if (failure != null) {
			throw (failure.failure().kind() == Failure.Kind.TIMEOUT) ? failure : settled(failure);
		}
	}

	@Override
	public @Nullable Message peek(int source, int tag, Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		CompletableFuture<Optional<Message>> search = search(source, tag);
		while (!answered(search)) {
			requireUsable();
			if (deadline.expired()) {
				throw failed(Failure.Kind.TIMEOUT, peers(source), "probe for a message from " + nameOf(source, tag)
						+ ": the MPI library does not answer; the group stays usable", deadline);
			}
		}
		return result(search).orElse(null);
	}

	/**
	 * Whether a search ends soon. An interrupt does not end it, as it does not wait for a
	 * rank.
	 */
	private static boolean answered(CompletableFuture<Optional<Message>> search) {
		return search.handle((_, _) -> true).completeOnTimeout(false, CHECK_NANOS, TimeUnit.NANOSECONDS).join();
	}

	private CompletableFuture<Optional<Message>> search(int source, int tag) {
		requireUsable();
		MpiTask<Optional<Message>> search = new MpiTask<>((calls) -> find(calls, source, tag));
		this.communicator.world().submit(search);
		return search.result();
	}

	/**
	 * A message with a given tag may be of any type, each of which is a library tag. The
	 * earliest message of all is looked at first: of two with the tag and of different
	 * types, the first one to receive is found unless an earlier one has another tag.
	 */
	private Optional<Message> find(MpiCalls calls, int source, int tag) {
		MpiAbi abi = this.communicator.world().abi();
		int from = (source == Message.ANY_SOURCE) ? abi.anySource() : source;
		Optional<Message> earliest = find(calls, from, abi.anyTag(), abi);
		if (tag == Message.ANY_TAG || earliest.filter((message) -> message.tag() == tag).isPresent()) {
			return earliest;
		}
		return Stream.of(DataType.values())
			.map((type) -> find(calls, from, MessageTag.encode(type, tag), abi))
			.flatMap(Optional::stream)
			.findFirst();
	}

	private Optional<Message> find(MpiCalls calls, int from, int libraryTag, MpiAbi abi) {
		long status = this.probed.address();
		if (!calls.probe(from, libraryTag, this.communicator.handle(), status)) {
			return Optional.empty();
		}
		MessageTag found = MessageTag.decode(NativeMemory.getInt(status + abi.statusTag()));
		return Optional.of(new Message(NativeMemory.getInt(status + abi.statusSource()), found.tag(),
				calls.count(status, abi.type(found.type()))));
	}

	/**
	 * Withdraws a receive. A library cannot withdraw a send, which therefore completes.
	 */
	@Override
	public boolean cancel(CompletableFuture<Message> operation) {
		MpiMessage message = this.open.get(operation);
		if (message == null || message.sends()) {
			return false;
		}
		WithdrawnMessageException withdrawn = new WithdrawnMessageException(this.identity, message.peer(),
				message.toString());
		this.communicator.world().submit((calls) -> message.withdraw(calls, withdrawn));
		return operation.handle((received, failure) -> failure instanceof CancellationException).join();
	}

	private MpiMessage begin(MpiMessage message) {
		requireUsable();
		message.reset(null);
		this.open.put(message.future(), message);
		try {
			// The open messages may have been failed before this one was added.
			requireUsable();
		}
		catch (RuntimeException ex) {
			this.open.remove(message.future());
			throw ex;
		}
		this.communicator.world().submit(message);
		return message;
	}

	/** Fails a message for which no thread waits if a call of the library blocks. */
	private CompletableFuture<Message> expiring(MpiMessage message) {
		CompletableFuture<Void> alarm = new CompletableFuture<>();
		alarm.orTimeout(limitNanos(message), TimeUnit.NANOSECONDS).exceptionally((_) -> {
			message.fail(unanswered(message));
			return null;
		});
		message.future().whenComplete((_, _) -> alarm.complete(null));
		return message.future();
	}

	/** The library's thread checks the deadline, unless a call of the library blocks. */
	private static long limitNanos(MpiMessage message) {
		return Math.min(message.deadline().remainingNanos(), LONGEST_NANOS) + UNANSWERED_NANOS;
	}

	private CollectiveException unanswered(MpiMessage message) {
		return failed(Failure.Kind.TIMEOUT, peers(message.peer()),
				message + " did not complete: the MPI library does not answer", message.deadline());
	}

	private void requireUsable() {
		if (this.closed) {
			throw GroupStateException.closed(this.identity);
		}
		this.latch.requireNotBroken(this.identity);
	}

	private Message await(MpiMessage message) {
		if (!ends(message.future(), limitNanos(message))) {
			message.fail(Thread.currentThread().isInterrupted() ? interruption(message, message.deadline())
					: unanswered(message));
		}
		return result(message.future());
	}

	/** Whether a future ends in time. An interrupt ends the wait and stays set. */
	private static boolean ends(CompletableFuture<?> future, long nanos) {
		try {
			future.get(nanos, TimeUnit.NANOSECONDS);
			return true;
		}
		catch (ExecutionException ex) {
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private static <T> T result(CompletableFuture<T> future) {
		try {
			return future.join();
		}
		catch (CompletionException ex) {
			throw CleanUp.unchecked(ex.getCause());
		}
	}

	private CollectiveException interruption(Object operation, Deadline deadline) {
		return failed(Failure.Kind.ABORTED, List.of(this.identity.rank()),
				"the calling thread was interrupted in a " + operation, deadline);
	}

	MpiCommunicator communicator() {
		return this.communicator;
	}

	void finished(MpiMessage message) {
		this.open.remove(message.future());
	}

	/** The failure that ends a message in progress, or {@code null}. */
	@Nullable CollectiveException failureOf(MpiMessage message) {
		return failureOf(message, message.peer(), message.deadline(), message.overdue());
	}

	/**
	 * The failure that ends an operation in progress, or {@code null}.
	 * @param peer rank to wait for; negative for any
	 * @param overdue what a timeout says after the operation
	 */
	private @Nullable CollectiveException failureOf(Object operation, int peer, Deadline deadline, String overdue) {
		Failure verdict = this.latch.failure();
		if (verdict != null) {
			return this.identity.exception(verdict, null);
		}
		List<Integer> senders = sendersTo(peer);
		if (!this.latch.departed().isEmpty() && senders.stream().allMatch(this::hasLeft)) {
			int left = this.identity.members().get(senders.getFirst());
			return failed(DepartedRanks.failureOf(this.identity.name()), senders,
					operation + ": " + this.latch.departed().describe(left), deadline);
		}
		return deadline.expired() ? failed(Failure.Kind.TIMEOUT, peers(peer), operation + overdue, deadline) : null;
	}

	/** The rank that a message is exchanged with, none for any. */
	private static List<Integer> peers(int peer) {
		return (peer >= 0) ? List.of(peer) : List.of();
	}

	/** The failure of a group whose library can no longer control a message. */
	CollectiveException brokenBy(RuntimeException cause, MpiMessage message) {
		Deadline deadline = message.deadline();
		return this.identity.exception(
				new Failure(Failure.Kind.ABORTED, this.identity.name(), -1, null, List.of(this.identity.worldRank()),
						message + ": " + cause.getMessage(), deadline.elapsed(), deadline.timeout()),
				cause);
	}

	/** The ranks that may complete a message: the peer, or all others for any rank. */
	private List<Integer> sendersTo(int peer) {
		return (peer >= 0) ? List.of(peer) : this.identity.others();
	}

	private boolean hasLeft(int peer) {
		return this.latch.departed().isAbsentFor(this.identity.members().get(peer), ARRIVING);
	}

	/** The receive that a message does not fit. */
	MessageMismatchException.Receive receive(int source, DataType type, long room) {
		return new MessageMismatchException.Receive(this.identity.worldRank(), this.identity.jobSize(),
				this.identity.name(), this.identity.members().get(source), type, room);
	}

	/** A receive whose buffer was closed. */
	GroupStateException bufferClosed(int peer, String problem) {
		return GroupStateException.bufferClosed(this.identity, peer, problem);
	}

	private CollectiveException failed(Failure.Kind kind, List<Integer> peers, String detail, Deadline deadline) {
		List<Integer> ranks = peers.stream().map(this.identity.members()::get).toList();
		return this.identity.exception(new Failure(kind, this.identity.name(), -1, null, ranks, detail,
				deadline.elapsed(), deadline.timeout()), null);
	}

	/** Maps a local failure to the group's verdict. */
	CollectiveException settled(CollectiveException seen) {
		return this.latch.reportAndAwaitVerdict(seen);
	}

	/** Fails the open messages of a broken group, whatever the library's thread does. */
	@Override
	public void wake() {
		Failure verdict = this.latch.failure();
		if (verdict != null) {
			this.open.values().forEach((message) -> message.fail(this.identity.exception(verdict, null)));
		}
	}

	@Override
	public void close() {
		this.closed = true;
		if (!this.open.isEmpty()) {
			this.latch.abort("this rank closed the group during a send or receive");
		}
	}

}
