package io.tutti.engine.dispatch;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.Work;
import io.tutti.engine.Timeouts;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.spi.RefusedCall;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the calls of one group on a backend: collectives in issue order, point-to-point
 * messages independently of them.
 */
public final class DefaultProcessGroup implements ProcessGroup {

	private final GroupIdentity identity;

	private final GroupBackend backend;

	private final FailureLatch latch;

	private final CallOptions options;

	private final CallRunner runner;

	private final AllocatedBuffers buffers;

	private final MessageArguments arguments;

	private final GroupFactory factory;

	private final GroupSplit split;

	private final @Nullable PointToPoint messages;

	/** The group itself, of which this may be a view with other options. */
	private final DefaultProcessGroup group;

	private volatile boolean closed;

	/** What to release when this group closes; {@code null} once that is done. */
	private @Nullable Deque<Runnable> bound = new ArrayDeque<>();

	/** By type and key; those of a view are in its group. */
	private final Map<List<Object>, Object> shared = new ConcurrentHashMap<>();

	/**
	 * A formed group with collectives only: no messages and no subgroups.
	 * @param latch trips when the group breaks; shared with the receiver of verdicts
	 * @param reporter receives this rank's own failures
	 */
	public DefaultProcessGroup(GroupIdentity identity, GroupBackend backend, FailureLatch latch,
			FailureReporter reporter, Timeouts timeouts) {
		this(identity, backend, latch, reporter, timeouts, GroupFactory.NONE);
	}

	/**
	 * A formed group. Applications get their groups from a backend's factory instead.
	 * @param latch trips when the group breaks; shared with the receiver of verdicts
	 * @param reporter receives this rank's own failures
	 * @param factory creates the messages and subgroups of this group
	 */
	public DefaultProcessGroup(GroupIdentity identity, GroupBackend backend, FailureLatch latch,
			FailureReporter reporter, Timeouts timeouts, GroupFactory factory) {
		this.identity = identity;
		this.backend = backend;
		this.latch = latch;
		this.factory = factory;
		this.group = this;
		this.options = CallOptions.of(timeouts.collective());
		latch.reportTo(identity, reporter, timeouts.abort());
		this.messages = openMessages();
		this.runner = new CallRunner(identity, backend, latch);
		this.buffers = new AllocatedBuffers(identity, backend);
		this.arguments = new MessageArguments(identity, backend);
		this.split = new GroupSplit(identity, factory);
	}

	/** A view of a group with other options. */
	private DefaultProcessGroup(DefaultProcessGroup group, CallOptions options) {
		this.identity = group.identity;
		this.backend = group.backend;
		this.latch = group.latch;
		this.factory = group.factory;
		this.group = group;
		this.options = options;
		this.messages = group.messages;
		this.runner = group.runner;
		this.buffers = group.buffers;
		this.arguments = group.arguments;
		this.split = group.split;
	}

	@Override
	public int rank() {
		return this.identity.rank();
	}

	@Override
	public int worldSize() {
		return this.identity.worldSize();
	}

	@Override
	public String name() {
		return this.identity.name();
	}

	@Override
	public long generation() {
		return this.identity.generation();
	}

	@Override
	public boolean isElastic() {
		return this.identity.elastic();
	}

	@Override
	public String backend() {
		return this.backend.name();
	}

	@Override
	public String transport() {
		return this.backend.transport();
	}

	@Override
	public boolean takesDeviceMemory() {
		return this.backend.takesDeviceMemory();
	}

	@Override
	public GroupState state() {
		if (this.group.closed) {
			return GroupState.CLOSED;
		}
		return (this.latch.failure() != null) ? GroupState.BROKEN : GroupState.READY;
	}

	@Override
	public @Nullable Failure failure() {
		return this.latch.failure();
	}

	@Override
	public long lastEntered() {
		return this.runner.recorder().last();
	}

	@Override
	public Duration timeout() {
		return this.options.timeout();
	}

	@Override
	public DefaultProcessGroup withTimeout(Duration timeout) {
		return with("withTimeout", () -> this.options.withTimeout(timeout));
	}

	@Override
	public ProcessGroup withLabel(String label) {
		return with("withLabel", () -> this.options.withLabel(label));
	}

	private DefaultProcessGroup with(String call, Supplier<CallOptions> changed) {
		try {
			return new DefaultProcessGroup(this.group, changed.get());
		}
		catch (IllegalArgumentException | NullPointerException ex) {
			throw RefusedCall.at(this.identity, call, ex);
		}
	}

	/** The last calls of this rank in this group and the totals of all its calls. */
	public FlightRecorder recorder() {
		return this.runner.recorder();
	}

	/** The backend that executes this group's collectives. */
	public GroupBackend groupBackend() {
		return this.backend;
	}

	/** The group's name, members and this process's rank. */
	public GroupIdentity identity() {
		return this.identity;
	}

	/**
	 * What this rank called at a sequence number at which another rank waits. Called by
	 * the control plane's thread.
	 * @return {@code null} if the recorder no longer holds the call or it has not begun;
	 * in the latter case it is posted as soon as it begins
	 */
	public @Nullable CallReport called(long sequence) {
		return this.runner.called(sequence);
	}

	/** Wakes a waiting call, so that it detects a failure at once. */
	public void wake() {
		this.backend.wake();
		PointToPoint opened = this.messages;
		if (opened != null) {
			opened.wake();
		}
	}

	@Override
	public void allReduce(MemorySegment buffer, DataType type, ReduceOp op) {
		this.runner.run(Collective.ALL_REDUCE, buffer, buffer, type, op, 0, this.options);
	}

	@Override
	public Work<Void> allReduceAsync(MemorySegment buffer, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.ALL_REDUCE, buffer, buffer, type, op, 0, this.options);
	}

	@Override
	public void allReduce(List<MemorySegment> buffers, DataType type, ReduceOp op) {
		this.runner.runAll(Collective.ALL_REDUCE, buffers, type, op, 0, this.options);
	}

	@Override
	public Work<Void> allReduceAsync(List<MemorySegment> buffers, DataType type, ReduceOp op) {
		return this.runner.runAllAsync(Collective.ALL_REDUCE, buffers, type, op, 0, this.options);
	}

	@Override
	public void allReduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		this.runner.run(Collective.ALL_REDUCE, send, receive, type, op, 0, this.options);
	}

	@Override
	public Work<Void> allReduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.ALL_REDUCE, send, receive, type, op, 0, this.options);
	}

	@Override
	public void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root) {
		this.runner.run(Collective.REDUCE, send, onRoot(receive, root), type, op, root, this.options);
	}

	@Override
	public Work<Void> reduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root) {
		return this.runner.runAsync(Collective.REDUCE, send, onRoot(receive, root), type, op, root, this.options);
	}

	@Override
	public void broadcast(MemorySegment buffer, DataType type, int root) {
		this.runner.run(Collective.BROADCAST, buffer, buffer, type, null, root, this.options);
	}

	@Override
	public Work<Void> broadcastAsync(MemorySegment buffer, DataType type, int root) {
		return this.runner.runAsync(Collective.BROADCAST, buffer, buffer, type, null, root, this.options);
	}

	@Override
	public void broadcast(List<MemorySegment> buffers, DataType type, int root) {
		this.runner.runAll(Collective.BROADCAST, buffers, type, null, root, this.options);
	}

	@Override
	public Work<Void> broadcastAsync(List<MemorySegment> buffers, DataType type, int root) {
		return this.runner.runAllAsync(Collective.BROADCAST, buffers, type, null, root, this.options);
	}

	/**
	 * An all-gather of the engine itself, of heap memory; its label is what it is for.
	 */
	void agree(Agreement on, MemorySegment send, MemorySegment receive) {
		this.runner.agree(on, send, receive, this.options);
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, DataType type) {
		this.runner.run(Collective.ALL_GATHER, send, receive, type, null, 0, this.options);
	}

	@Override
	public Work<Void> allGatherAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return this.runner.runAsync(Collective.ALL_GATHER, send, receive, type, null, 0, this.options);
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type) {
		this.runner.runUneven(Collective.ALL_GATHER, send, receive, type, null, 0, counts, null, this.options);
	}

	@Override
	public Work<Void> allGatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type) {
		return this.runner.runUnevenAsync(Collective.ALL_GATHER, send, receive, type, null, 0, counts, null,
				this.options);
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		this.runner.run(Collective.REDUCE_SCATTER, send, receive, type, op, 0, this.options);
	}

	@Override
	public Work<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0, this.options);
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op) {
		this.runner.runUneven(Collective.REDUCE_SCATTER, send, receive, type, op, 0, counts, null, this.options);
	}

	@Override
	public Work<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type,
			ReduceOp op) {
		return this.runner.runUnevenAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0, counts, null,
				this.options);
	}

	@Override
	public void gather(MemorySegment send, MemorySegment receive, DataType type, int root) {
		this.runner.run(Collective.GATHER, send, onRoot(receive, root), type, null, root, this.options);
	}

	@Override
	public Work<Void> gatherAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return this.runner.runAsync(Collective.GATHER, send, onRoot(receive, root), type, null, root, this.options);
	}

	@Override
	public void gather(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		this.runner.runUneven(Collective.GATHER, send, onRoot(receive, root), type, null, root, counts, null,
				this.options);
	}

	@Override
	public Work<Void> gatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		return this.runner.runUnevenAsync(Collective.GATHER, send, onRoot(receive, root), type, null, root, counts,
				null, this.options);
	}

	@Override
	public void scatter(MemorySegment send, MemorySegment receive, DataType type, int root) {
		this.runner.run(Collective.SCATTER, onRoot(send, root), receive, type, null, root, this.options);
	}

	@Override
	public Work<Void> scatterAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return this.runner.runAsync(Collective.SCATTER, onRoot(send, root), receive, type, null, root, this.options);
	}

	@Override
	public void scatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		this.runner.runUneven(Collective.SCATTER, onRoot(send, root), receive, type, null, root, counts, null,
				this.options);
	}

	@Override
	public Work<Void> scatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		return this.runner.runUnevenAsync(Collective.SCATTER, onRoot(send, root), receive, type, null, root, counts,
				null, this.options);
	}

	@Override
	public void allToAll(MemorySegment send, MemorySegment receive, DataType type) {
		this.runner.run(Collective.ALL_TO_ALL, send, receive, type, null, 0, this.options);
	}

	@Override
	public Work<Void> allToAllAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return this.runner.runAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0, this.options);
	}

	@Override
	public void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type) {
		this.runner.runUneven(Collective.ALL_TO_ALL, send, receive, type, null, 0, sendCounts, receiveCounts,
				this.options);
	}

	@Override
	public Work<Void> allToAllAsync(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type) {
		return this.runner.runUnevenAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0, sendCounts,
				receiveCounts, this.options);
	}

	@Override
	public void scan(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		this.runner.run(Collective.SCAN, send, receive, type, op, 0, this.options);
	}

	@Override
	public Work<Void> scanAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.SCAN, send, receive, type, op, 0, this.options);
	}

	@Override
	public void exclusiveScan(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		this.runner.run(Collective.EXCLUSIVE_SCAN, send, receive, type, op, 0, this.options);
	}

	@Override
	public Work<Void> exclusiveScanAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.EXCLUSIVE_SCAN, send, receive, type, op, 0, this.options);
	}

	@Override
	public void barrier() {
		this.runner.run(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null, 0,
				this.options);
	}

	@Override
	public Work<Void> barrierAsync() {
		return this.runner.runAsync(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null,
				0, this.options);
	}

	@Override
	public MemorySegment allocate(long bytes) {
		return this.buffers.allocate(this, bytes);
	}

	@Override
	public void free(MemorySegment buffer) {
		this.buffers.free(this, buffer);
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag) {
		this.arguments.requireSend(buffer, type, peer, tag);
		messages().send(buffer, type, peer, tag, timeout());
	}

	@Override
	public Work<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag) {
		this.arguments.requireAsyncSend(buffer, type, peer, tag);
		CompletableFuture<Message> sent = messages().sendAsync(buffer, type, peer, tag, timeout());
		return new EngineWork<>(sent.thenApply((message) -> null), "send to rank " + peer + " with tag " + tag,
				this::abortForReason, () -> messages().cancel(sent));
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int peer, int tag) {
		this.arguments.requireReceive(buffer, type, peer, tag, false);
		return messages().receive(buffer, type, peer, tag, timeout());
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag) {
		this.arguments.requireReceive(buffer, type, source, tag, true);
		return messages().receiveAny(buffer, type, source, tag, timeout());
	}

	@Override
	public Work<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag) {
		this.arguments.requireAsyncReceive(buffer, type, source, tag);
		return work(messages().receiveAsync(buffer, type, source, tag, timeout()),
				"receive from " + ((source == Message.ANY_SOURCE) ? "any rank" : "rank " + source));
	}

	private Work<Message> work(CompletableFuture<Message> end, String call) {
		return new EngineWork<>(end, call, this::abortForReason, () -> messages().cancel(end));
	}

	@Override
	public Message probe(int source, int tag) {
		this.arguments.requireProbe(source, tag);
		return messages().probe(source, tag, timeout());
	}

	@Override
	public @Nullable Message tryProbe(int source, int tag) {
		this.arguments.requireProbe(source, tag);
		return messages().peek(source, tag);
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag) {
		this.arguments.requireSendReceive(send, peer, receive, source, type, tag);
		return messages().sendReceive(send, peer, receive, source, type, tag, timeout());
	}

	@Override
	public List<Work<Message>> startAll(List<Transfer> transfers) {
		List<Transfer> all = this.arguments.requireTransfers(transfers);
		List<@Nullable Work<Message>> works = new ArrayList<>(Collections.nCopies(all.size(), null));
		for (Transfer.Direction direction : List.of(Transfer.Direction.RECEIVE, Transfer.Direction.SEND)) {
			for (int i = 0; i < works.size(); i++) {
				Transfer transfer = all.get(i);
				if (transfer.direction() == direction) {
					works.set(i, start(transfer));
				}
			}
		}
		return List.copyOf(works);
	}

	private Work<Message> start(Transfer transfer) {
		return switch (transfer.direction()) {
			case RECEIVE -> receiveAsync(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag());
			case SEND -> work(messages().sendAsync(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag(),
					timeout()), "send to rank " + transfer.peer() + " with tag " + transfer.tag());
		};
	}

	private @Nullable PointToPoint openMessages() {
		try {
			return this.factory.pointToPoint(this.identity, this.latch);
		}
		catch (RuntimeException ex) {
			this.backend.close();
			throw ex;
		}
	}

	private PointToPoint messages() {
		PointToPoint opened = this.messages;
		if (opened == null) {
			throw new UnsupportedOperationException(
					RefusedCall.place(this.identity, "message") + "the group has no point-to-point messages");
		}
		return opened;
	}

	@Override
	public @Nullable ProcessGroup split(int color, int key) {
		return this.split.byColor(this, color, key);
	}

	@Override
	public @Nullable ProcessGroup subgroup(List<Integer> ranks) {
		return this.split.of(this, ranks);
	}

	/** The buffer on the root; other ranks ignore it, so it may be anything there. */
	private MemorySegment onRoot(MemorySegment buffer, int root) {
		return (rank() == root) ? buffer : MemorySegment.NULL;
	}

	/** Aborts the group if the calling thread is interrupted. */
	void requireNotInterrupted() {
		if (Thread.currentThread().isInterrupted()) {
			Failure failure = Failure.outside(Failure.Kind.ABORTED, name(), List.of(this.identity.worldRank()),
					"the calling thread was interrupted");
			CollectiveException cause = this.latch.agree(this.identity.exception(failure, new InterruptedException()));
			wake();
			throw cause;
		}
	}

	@Override
	public void abort(String reason) {
		abortForReason(requireNonNull("abort", "reason", reason));
	}

	private CollectiveException abortForReason(String reason) {
		CollectiveException cause = this.latch.abort(reason);
		wake();
		return cause;
	}

	@Override
	public void close() {
		if (this.group != this) {
			this.group.close();
			return;
		}
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.closed = true;
		}
		try {
			PointToPoint opened = this.messages;
			if (opened != null) {
				opened.close();
			}
		}
		finally {
			this.runner.close();
			releaseMemory();
		}
	}

	private void releaseMemory() {
		try {
			this.buffers.close();
		}
		finally {
			this.latch.leave(recorder().lastCompleted());
			this.backend.close();
			this.factory.closed(this);
			releaseBound();
		}
	}

	@Override
	public void onClose(Runnable action) {
		if (this.group != this) {
			this.group.onClose(action);
			return;
		}
		Runnable release = requireNonNull("onClose", "action", action);
		synchronized (this) {
			if (this.bound != null) {
				this.bound.push(release);
				return;
			}
		}
		release.run();
	}

	@Override
	public <T> T shared(Class<T> type, Object key, Supplier<? extends T> creator, Consumer<? super T> release) {
		if (this.group != this) {
			return this.group.shared(type, key, creator, release);
		}
		requireNonNull("shared", "type", type);
		requireNonNull("shared", "key", key);
		requireNonNull("shared", "creator", creator);
		requireNonNull("shared", "release", release);
		return type.cast(this.shared.computeIfAbsent(List.of(type, key), (_) -> {
			T created = creator.get();
			onClose(() -> release.accept(created));
			return created;
		}));
	}

	private <T> T requireNonNull(String call, String name, @Nullable T argument) {
		if (argument == null) {
			throw new NullPointerException(RefusedCall.place(this.identity, call) + name + " must not be null");
		}
		return argument;
	}

	/** An action that fails does not keep the others from running. */
	private void releaseBound() {
		Deque<Runnable> actions;
		synchronized (this) {
			actions = Objects.requireNonNull(this.bound);
			this.bound = null;
		}
		RuntimeException failure = null;
		for (Runnable action : actions) {
			try {
				action.run();
			}
			catch (RuntimeException ex) {
				if (failure != null) {
					ex.addSuppressed(failure);
				}
				failure = ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	/** As in {@code group world of 4 ranks, rank 1, ready, over shm}. */
	@Override
	public String toString() {
		return "group " + name() + " of " + worldSize() + " ranks, rank " + rank() + ", "
				+ state().name().toLowerCase(Locale.ROOT) + ", over " + transport();
	}

}
