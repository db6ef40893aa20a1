package io.tutti.engine.dispatch;

import io.tutti.Collective;
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
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.spi.RefusedCall;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
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

	private final GroupSplit split;

	private final @Nullable PointToPoint messages;

	private final GroupLifetime lifetime;

	/** Whether this rank leaves the job. */
	private volatile boolean leaving;

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
		this.options = CallOptions.of(timeouts.collective(), "");
		latch.reportTo(identity, reporter, timeouts.abort());
		this.runner = new CallRunner(identity, backend, latch);
		this.buffers = new AllocatedBuffers(identity, backend);
		this.arguments = new MessageArguments(identity, backend);
		this.split = new GroupSplit(identity, factory);
		this.lifetime = new GroupLifetime(
				List.of(this.runner::close, this::closeMessages, this.buffers::close,
						() -> latch.leave(recorder().lastCompleted()), backend::close),
				timeouts.drain().plus(timeouts.abort().multipliedBy(2)));
		// Last, since they have a thread and connections.
		this.messages = factory.pointToPoint(identity, latch);
		latch.onFailure(this::wake);
	}

	/** A view of a group with other options. */
	private DefaultProcessGroup(DefaultProcessGroup group, CallOptions options) {
		this.identity = group.identity;
		this.backend = group.backend;
		this.latch = group.latch;
		this.options = options;
		this.messages = group.messages;
		this.runner = group.runner;
		this.buffers = group.buffers;
		this.arguments = group.arguments;
		this.split = group.split;
		this.lifetime = group.lifetime;
	}

	private void closeMessages() {
		PointToPoint opened = this.messages;
		if (opened != null && this.leaving) {
			opened.leave();
		}
		else if (opened != null) {
			opened.close();
		}
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
		if (this.lifetime.isClosed()) {
			return GroupState.CLOSED;
		}
		return (this.latch.failure() != null) ? GroupState.BROKEN : GroupState.READY;
	}

	@Override
	public @Nullable Failure failure() {
		return this.latch.failure();
	}

	/**
	 * Waits for a failure of the group.
	 * @return {@code null} if there is none in time
	 */
	public @Nullable Failure awaitFailure(Duration limit) {
		return this.latch.await(limit);
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
			return new DefaultProcessGroup(this, changed.get());
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
	 * in the latter case it is reported later
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
		run(Collective.ALL_REDUCE, buffer, buffer, type, op, 0);
	}

	@Override
	public Work<Void> allReduceAsync(MemorySegment buffer, DataType type, ReduceOp op) {
		return runAsync(Collective.ALL_REDUCE, buffer, buffer, type, op, 0);
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
		run(Collective.ALL_REDUCE, send, receive, type, op, 0);
	}

	@Override
	public Work<Void> allReduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return runAsync(Collective.ALL_REDUCE, send, receive, type, op, 0);
	}

	@Override
	public void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root) {
		run(Collective.REDUCE, send, onRoot(receive, root), type, op, root);
	}

	@Override
	public Work<Void> reduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root) {
		return runAsync(Collective.REDUCE, send, onRoot(receive, root), type, op, root);
	}

	@Override
	public void broadcast(MemorySegment buffer, DataType type, int root) {
		run(Collective.BROADCAST, buffer, buffer, type, null, root);
	}

	@Override
	public Work<Void> broadcastAsync(MemorySegment buffer, DataType type, int root) {
		return runAsync(Collective.BROADCAST, buffer, buffer, type, null, root);
	}

	@Override
	public void broadcast(List<MemorySegment> buffers, DataType type, int root) {
		this.runner.runAll(Collective.BROADCAST, buffers, type, null, root, this.options);
	}

	@Override
	public Work<Void> broadcastAsync(List<MemorySegment> buffers, DataType type, int root) {
		return this.runner.runAllAsync(Collective.BROADCAST, buffers, type, null, root, this.options);
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, DataType type) {
		run(Collective.ALL_GATHER, send, receive, type, null, 0);
	}

	@Override
	public Work<Void> allGatherAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return runAsync(Collective.ALL_GATHER, send, receive, type, null, 0);
	}

	@Override
	public void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type) {
		runUneven(Collective.ALL_GATHER, send, receive, type, null, 0, counts);
	}

	@Override
	public Work<Void> allGatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type) {
		return runUnevenAsync(Collective.ALL_GATHER, send, receive, type, null, 0, counts);
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		run(Collective.REDUCE_SCATTER, send, receive, type, op, 0);
	}

	@Override
	public Work<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return runAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0);
	}

	@Override
	public void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op) {
		runUneven(Collective.REDUCE_SCATTER, send, receive, type, op, 0, counts);
	}

	@Override
	public Work<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type,
			ReduceOp op) {
		return runUnevenAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0, counts);
	}

	@Override
	public void gather(MemorySegment send, MemorySegment receive, DataType type, int root) {
		run(Collective.GATHER, send, onRoot(receive, root), type, null, root);
	}

	@Override
	public Work<Void> gatherAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return runAsync(Collective.GATHER, send, onRoot(receive, root), type, null, root);
	}

	@Override
	public void gather(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		runUneven(Collective.GATHER, send, onRoot(receive, root), type, null, root, counts);
	}

	@Override
	public Work<Void> gatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		return runUnevenAsync(Collective.GATHER, send, onRoot(receive, root), type, null, root, counts);
	}

	@Override
	public void scatter(MemorySegment send, MemorySegment receive, DataType type, int root) {
		run(Collective.SCATTER, onRoot(send, root), receive, type, null, root);
	}

	@Override
	public Work<Void> scatterAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return runAsync(Collective.SCATTER, onRoot(send, root), receive, type, null, root);
	}

	@Override
	public void scatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		runUneven(Collective.SCATTER, onRoot(send, root), receive, type, null, root, counts);
	}

	@Override
	public Work<Void> scatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root) {
		return runUnevenAsync(Collective.SCATTER, onRoot(send, root), receive, type, null, root, counts);
	}

	@Override
	public void allToAll(MemorySegment send, MemorySegment receive, DataType type) {
		run(Collective.ALL_TO_ALL, send, receive, type, null, 0);
	}

	@Override
	public Work<Void> allToAllAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return runAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0);
	}

	@Override
	public void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type) {
		requireNonNull(Collective.ALL_TO_ALL.label(), "sendCounts", sendCounts);
		requireNonNull(Collective.ALL_TO_ALL.label(), "receiveCounts", receiveCounts);
		this.runner.run(Collective.ALL_TO_ALL, send, receive, type, null, 0, sendCounts, receiveCounts, this.options);
	}

	@Override
	public Work<Void> allToAllAsync(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type) {
		requireNonNull(Collective.ALL_TO_ALL.label(), "sendCounts", sendCounts);
		requireNonNull(Collective.ALL_TO_ALL.label(), "receiveCounts", receiveCounts);
		return this.runner.runAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0, sendCounts, receiveCounts,
				this.options);
	}

	@Override
	public void scan(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		run(Collective.SCAN, send, receive, type, op, 0);
	}

	@Override
	public Work<Void> scanAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return runAsync(Collective.SCAN, send, receive, type, op, 0);
	}

	@Override
	public void exclusiveScan(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		run(Collective.EXCLUSIVE_SCAN, send, receive, type, op, 0);
	}

	@Override
	public Work<Void> exclusiveScanAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		return runAsync(Collective.EXCLUSIVE_SCAN, send, receive, type, op, 0);
	}

	@Override
	public void barrier() {
		run(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null, 0);
	}

	@Override
	public Work<Void> barrierAsync() {
		return runAsync(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null, 0);
	}

	/** The buffer on the root; other ranks ignore it, so it may be anything there. */
	private MemorySegment onRoot(MemorySegment buffer, int root) {
		return (rank() == root) ? buffer : MemorySegment.NULL;
	}

	private void run(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root) {
		this.runner.run(collective, send, receive, type, op, root, null, null, this.options);
	}

	private Work<Void> runAsync(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root) {
		return this.runner.runAsync(collective, send, receive, type, op, root, null, null, this.options);
	}

	private void runUneven(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long[] counts) {
		requireNonNull(collective.label(), "counts", counts);
		this.runner.run(collective, send, receive, type, op, root, counts, null, this.options);
	}

	private Work<Void> runUnevenAsync(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long[] counts) {
		requireNonNull(collective.label(), "counts", counts);
		return this.runner.runAsync(collective, send, receive, type, op, root, counts, null, this.options);
	}

	/**
	 * An all-gather of the engine itself, of heap memory. Aborts the group if the calling
	 * thread is interrupted.
	 * @return its sequence number
	 */
	long agree(Agreement on, MemorySegment send, MemorySegment receive) {
		if (Thread.currentThread().isInterrupted()) {
			throw this.latch.reportAndAwaitVerdict(this.identity
				.exception(this.identity.aborted("the calling thread was interrupted"), new InterruptedException()));
		}
		return this.runner.agree(on, send, receive, this.options);
	}

	/** Gives every rank the numbers of all ranks, in rank order. */
	Gathered agree(Agreement on, long... own) {
		long[] all = new long[own.length * worldSize()];
		return new Gathered(agree(on, MemorySegment.ofArray(own), MemorySegment.ofArray(all)), all);
	}

	/**
	 * The result of an all-gather of the engine.
	 *
	 * @param sequence its sequence number
	 * @param all the numbers of all ranks, in rank order
	 */
	record Gathered(long sequence, long[] all) {
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
		this.arguments.requireSend(buffer, type, peer, tag, false);
		messages().send(buffer, type, peer, tag, timeout());
	}

	@Override
	public Work<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag) {
		this.arguments.requireSend(buffer, type, peer, tag, true);
		CompletableFuture<Message> sent = messages().sendAsync(buffer, type, peer, tag, timeout());
		return work(sent, sent.thenApply((message) -> null), "send to " + nameOf(peer) + " with tag " + tag);
	}

	@Override
	public long receive(MemorySegment buffer, DataType type, int peer, int tag) {
		this.arguments.requireReceive(buffer, type, peer, tag, false, false);
		return messages().receive(buffer, type, peer, tag, timeout());
	}

	@Override
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag) {
		this.arguments.requireReceive(buffer, type, source, tag, true, false);
		return messages().receiveAny(buffer, type, source, tag, timeout());
	}

	@Override
	public Work<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag) {
		this.arguments.requireReceive(buffer, type, source, tag, true, true);
		CompletableFuture<Message> received = messages().receiveAsync(buffer, type, source, tag, timeout());
		return work(received, received,
				"receive from " + ((source == Message.ANY_SOURCE) ? "any rank" : nameOf(source)));
	}

	/** The world rank, as in every failure. */
	private String nameOf(int peer) {
		return "rank " + this.identity.members().get(peer);
	}

	/**
	 * The work of a message.
	 * @param message the operation, which may be cancelled
	 * @param result completes as the operation does
	 */
	private <T extends @Nullable Object> Work<T> work(CompletableFuture<Message> message, CompletableFuture<T> result,
			String call) {
		return new EngineWork<>(result, call, this.latch::abort, () -> messages().cancel(message));
	}

	@Override
	public Message probe(int source, int tag) {
		this.arguments.requireProbe(source, tag);
		return messages().probe(source, tag, timeout());
	}

	@Override
	public @Nullable Message tryProbe(int source, int tag) {
		this.arguments.requireProbe(source, tag);
		return messages().peek(source, tag, timeout());
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
		try {
			for (Transfer.Direction direction : List.of(Transfer.Direction.RECEIVE, Transfer.Direction.SEND)) {
				for (int i = 0; i < works.size(); i++) {
					Transfer transfer = all.get(i);
					if (transfer.direction() == direction) {
						works.set(i, start(transfer));
					}
				}
			}
		}
		catch (RuntimeException | Error ex) {
			// A receive that stayed posted would take the message of a later one.
			CleanUp.after(ex,
					works.stream().filter(Objects::nonNull).<Runnable>map((started) -> started::cancel).toList());
			throw ex;
		}
		return List.copyOf(works);
	}

	private Work<Message> start(Transfer transfer) {
		if (transfer.direction() == Transfer.Direction.RECEIVE) {
			return receiveAsync(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag());
		}
		CompletableFuture<Message> sent = messages().sendAsync(transfer.buffer(), transfer.type(), transfer.peer(),
				transfer.tag(), timeout());
		return work(sent, sent, "send to " + nameOf(transfer.peer()) + " with tag " + transfer.tag());
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

	@Override
	public void abort(int exitCode, String reason) {
		requireNonNull("abort", "reason", reason);
		if (!this.lifetime.hasEnded()) {
			try {
				this.latch.abort(exitCode, reason);
			}
			catch (IllegalArgumentException ex) {
				throw RefusedCall.at(this.identity, "abort", ex);
			}
		}
	}

	@Override
	public void close() {
		this.lifetime.close();
	}

	/**
	 * Closes the group because this rank leaves the job, as at the end of an application
	 * or of a generation. A message in flight is then no failure of the other ranks.
	 */
	public void leave() {
		this.leaving = true;
		close();
	}

	@Override
	public void onClose(Runnable action) {
		this.lifetime.bind(requireNonNull("onClose", "action", action));
	}

	@Override
	public <T> T shared(Class<T> type, Object key, Supplier<? extends T> creator, Consumer<? super T> release) {
		return this.lifetime.shared(requireNonNull("shared", "type", type), requireNonNull("shared", "key", key),
				requireNonNull("shared", "creator", creator), requireNonNull("shared", "release", release));
	}

	private <T> T requireNonNull(String call, String name, @Nullable T argument) {
		if (argument == null) {
			throw new NullPointerException(RefusedCall.place(this.identity, call) + name + " must not be null");
		}
		return argument;
	}

	/** As in {@code group world of 4 ranks, rank 1, ready, over shm}. */
	@Override
	public String toString() {
		return "group " + name() + " of " + worldSize() + " ranks, rank " + rank() + ", "
				+ state().name().toLowerCase(Locale.ROOT) + ", over " + transport();
	}

}
