package io.tutti.engine.dispatch;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Runs the calls of one group on a backend: collectives in issue order, point-to-point
 * messages independently of them.
 */
public final class DefaultProcessGroup implements ProcessGroup {

	private final GroupIdentity identity;

	private final GroupBackend backend;

	private final FailureLatch latch;

	private final Timeouts timeouts;

	private final CallRunner runner;

	private final GroupFactory factory;

	private final GroupSplit split;

	private final @Nullable PointToPoint messages;

	private volatile boolean closed;

	private volatile Runnable afterwards = () -> {
	};

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
		this.timeouts = timeouts;
		this.factory = factory;
		latch.reportTo(identity, reporter, timeouts.abort());
		this.messages = openMessages();
		this.runner = new CallRunner(identity, backend, latch);
		this.split = new GroupSplit(this, identity, factory);
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
		if (this.closed) {
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

	/** The last calls of this rank in this group and the totals of all its calls. */
	public FlightRecorder recorder() {
		return this.runner.recorder();
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

	/** Takes calls to the backend. */
	CallRunner runner() {
		return this.runner;
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
		allReduce(buffer, type, op, this.timeouts.collective());
	}

	@Override
	public void allReduce(MemorySegment buffer, DataType type, ReduceOp op, Duration timeout) {
		this.runner.run(Collective.ALL_REDUCE, buffer, buffer, type, op, 0, timeout);
	}

	@Override
	public CompletableFuture<Void> allReduceAsync(MemorySegment buffer, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.ALL_REDUCE, buffer, buffer, type, op, 0, this.timeouts.collective());
	}

	@Override
	public void allReduce(float[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.FLOAT32, op);
	}

	@Override
	public void allReduce(double[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.FLOAT64, op);
	}

	@Override
	public void allReduce(int[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.INT32, op);
	}

	@Override
	public void allReduce(long[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.INT64, op);
	}

	@Override
	public void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root) {
		reduce(send, receive, type, op, root, this.timeouts.collective());
	}

	@Override
	public void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root,
			Duration timeout) {
		this.runner.run(Collective.REDUCE, send, onRoot(receive, root), type, op, root, timeout);
	}

	@Override
	public CompletableFuture<Void> reduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op,
			int root) {
		return this.runner.runAsync(Collective.REDUCE, send, onRoot(receive, root), type, op, root,
				this.timeouts.collective());
	}

	@Override
	public void broadcast(MemorySegment buffer, DataType type, int root) {
		broadcast(buffer, type, root, this.timeouts.collective());
	}

	@Override
	public void broadcast(MemorySegment buffer, DataType type, int root, Duration timeout) {
		this.runner.run(Collective.BROADCAST, buffer, buffer, type, null, root, timeout);
	}

	@Override
	public CompletableFuture<Void> broadcastAsync(MemorySegment buffer, DataType type, int root) {
		return this.runner.runAsync(Collective.BROADCAST, buffer, buffer, type, null, root, this.timeouts.collective());
	}

	@Override
	public void broadcast(float[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.FLOAT32, root);
	}

	@Override
	public void broadcast(double[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.FLOAT64, root);
	}

	@Override
	public void broadcast(int[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.INT32, root);
	}

	@Override
	public void broadcast(long[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.INT64, root);
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, DataType type) {
		allGather(send, receive, type, this.timeouts.collective());
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, DataType type, Duration timeout) {
		this.runner.run(Collective.ALL_GATHER, send, receive, type, null, 0, timeout);
	}

	@Override
	public CompletableFuture<Void> allGatherAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return this.runner.runAsync(Collective.ALL_GATHER, send, receive, type, null, 0, this.timeouts.collective());
	}

	@Override
	public void allGather(float[] send, float[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT32);
	}

	@Override
	public void allGather(double[] send, double[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT64);
	}

	@Override
	public void allGather(int[] send, int[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT32);
	}

	@Override
	public void allGather(long[] send, long[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT64);
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type) {
		allGather(send, receive, counts, type, this.timeouts.collective());
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type, Duration timeout) {
		this.runner.runUneven(Collective.ALL_GATHER, send, receive, type, null, 0, counts, null, timeout);
	}

	@Override
	public CompletableFuture<Void> allGatherAsync(MemorySegment send, MemorySegment receive, long[] counts,
			DataType type) {
		return this.runner.runUnevenAsync(Collective.ALL_GATHER, send, receive, type, null, 0, counts, null,
				this.timeouts.collective());
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		reduceScatter(send, receive, type, op, this.timeouts.collective());
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, Duration timeout) {
		this.runner.run(Collective.REDUCE_SCATTER, send, receive, type, op, 0, timeout);
	}

	@Override
	public CompletableFuture<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, DataType type,
			ReduceOp op) {
		return this.runner.runAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0, this.timeouts.collective());
	}

	@Override
	public void reduceScatter(float[] send, float[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT32, op);
	}

	@Override
	public void reduceScatter(double[] send, double[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT64, op);
	}

	@Override
	public void reduceScatter(int[] send, int[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT32, op);
	}

	@Override
	public void reduceScatter(long[] send, long[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT64, op);
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op) {
		reduceScatter(send, receive, counts, type, op, this.timeouts.collective());
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op,
			Duration timeout) {
		this.runner.runUneven(Collective.REDUCE_SCATTER, send, receive, type, op, 0, counts, null, timeout);
	}

	@Override
	public CompletableFuture<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, long[] counts,
			DataType type, ReduceOp op) {
		return this.runner.runUnevenAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0, counts, null,
				this.timeouts.collective());
	}

	@Override
	public void gather(MemorySegment send, MemorySegment receive, DataType type, int root) {
		gather(send, receive, type, root, this.timeouts.collective());
	}

	@Override
	public void gather(MemorySegment send, MemorySegment receive, DataType type, int root, Duration timeout) {
		this.runner.run(Collective.GATHER, send, onRoot(receive, root), type, null, root, timeout);
	}

	@Override
	public CompletableFuture<Void> gatherAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return this.runner.runAsync(Collective.GATHER, send, onRoot(receive, root), type, null, root,
				this.timeouts.collective());
	}

	@Override
	public void scatter(MemorySegment send, MemorySegment receive, DataType type, int root) {
		scatter(send, receive, type, root, this.timeouts.collective());
	}

	@Override
	public void scatter(MemorySegment send, MemorySegment receive, DataType type, int root, Duration timeout) {
		this.runner.run(Collective.SCATTER, onRoot(send, root), receive, type, null, root, timeout);
	}

	@Override
	public CompletableFuture<Void> scatterAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return this.runner.runAsync(Collective.SCATTER, onRoot(send, root), receive, type, null, root,
				this.timeouts.collective());
	}

	@Override
	public void allToAll(MemorySegment send, MemorySegment receive, DataType type) {
		allToAll(send, receive, type, this.timeouts.collective());
	}

	@Override
	public void allToAll(MemorySegment send, MemorySegment receive, DataType type, Duration timeout) {
		this.runner.run(Collective.ALL_TO_ALL, send, receive, type, null, 0, timeout);
	}

	@Override
	public CompletableFuture<Void> allToAllAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return this.runner.runAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0, this.timeouts.collective());
	}

	@Override
	public void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type) {
		allToAll(send, sendCounts, receive, receiveCounts, type, this.timeouts.collective());
	}

	@Override
	public void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type, Duration timeout) {
		this.runner.runUneven(Collective.ALL_TO_ALL, send, receive, type, null, 0, sendCounts, receiveCounts, timeout);
	}

	@Override
	public CompletableFuture<Void> allToAllAsync(MemorySegment send, long[] sendCounts, MemorySegment receive,
			long[] receiveCounts, DataType type) {
		return this.runner.runUnevenAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0, sendCounts,
				receiveCounts, this.timeouts.collective());
	}

	@Override
	public void barrier() {
		barrier(this.timeouts.collective());
	}

	@Override
	public void barrier(Duration timeout) {
		this.runner.run(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null, 0, timeout);
	}

	@Override
	public CompletableFuture<Void> barrierAsync() {
		return this.runner.runAsync(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null,
				0, this.timeouts.collective());
	}

	@Override
	public MemorySegment allocate(long bytes) {
		if (bytes < 0) {
			throw new IllegalArgumentException("a buffer must have at least 0 bytes, got " + bytes);
		}
		return this.backend.allocate(bytes, new GroupExchange(this), Deadline.after(this.timeouts.collective()));
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag) {
		send(buffer, type, peer, tag, this.timeouts.collective());
	}

	@Override
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		messages().send(buffer, type, peer, tag, timeout);
	}

	@Override
	public CompletableFuture<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag) {
		CompletableFuture<Void> sent = messages().sendAsync(buffer, type, peer, tag, this.timeouts.collective())
			.thenApply((message) -> null);
		return CallFuture.of(sent, () -> "send to rank " + peer + " with tag " + tag, this::abort);
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int peer, int tag) {
		return receive(buffer, type, peer, tag, this.timeouts.collective());
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		return messages().receive(buffer, type, peer, tag, timeout);
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag) {
		return receiveAny(buffer, type, source, tag, this.timeouts.collective());
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return messages().receiveAny(buffer, type, source, tag, timeout);
	}

	@Override
	public CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag) {
		return CallFuture.of(messages().receiveAsync(buffer, type, source, tag, this.timeouts.collective()),
				() -> "receive from " + ((source == Message.ANY_SOURCE) ? "any rank" : "rank " + source), this::abort);
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag) {
		return sendReceive(send, peer, receive, source, type, tag, this.timeouts.collective());
	}

	@Override
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		return messages().sendReceive(send, peer, receive, source, type, tag, timeout);
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
			throw new UnsupportedOperationException("group " + name() + " has no point-to-point messages");
		}
		return opened;
	}

	@Override
	public @Nullable ProcessGroup split(int color, int key) {
		return this.split.byColor(color, key);
	}

	@Override
	public @Nullable ProcessGroup subgroup(List<Integer> ranks) {
		return this.split.of(ranks);
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
		this.latch.abort(reason);
		wake();
	}

	@Override
	public void close() {
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
			this.latch.leave(recorder().lastCompleted());
			this.backend.close();
			this.factory.closed(this);
			this.afterwards.run();
		}
	}

	/**
	 * Sets an action to run once after this group is closed. Releases resources whose
	 * only handle is the group.
	 */
	public void whenClosed(Runnable action) {
		this.afterwards = action;
	}

}
