package io.tutti.engine;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * The ranks that call collectives together, as one of them sees it.
 * <p>
 * Every rank must issue the same collectives in the same order, with the same counts,
 * types, operators and roots. A synchronous call runs on the caller's own thread and
 * returns when this rank's part is done; an {@code …Async} call runs on the group's one
 * worker thread and completes its future. Both kinds may be mixed, from any thread: calls
 * run in the order they were issued.
 * <p>
 * A buffer is a {@link MemorySegment}, on or off the heap, of whole elements in native
 * byte order: its size says the count. Heap segments are copied through native memory.
 * The caller must keep a buffer alive and untouched until the call is done, or its future
 * complete: to close its arena under a running call is to free memory that is written.
 * While an asynchronous collective runs, its buffers' arenas refuse to be closed, with an
 * {@link IllegalStateException}; a confined arena cannot do that, so its memory is
 * refused. Results are bit-identical on every rank and from run to run.
 * <p>
 * The call alone completes the future of an {@code …Async} call, so that it is not done
 * while the call still writes. To cancel or complete it changes nothing and returns
 * {@code false}; its {@code orTimeout} aborts the group, as every deadline does;
 * {@code completeOnTimeout}, {@code completeAsync} and {@code obtrude…} are not
 * supported. Dependents and copies are ordinary futures of the caller's own. Once a
 * future is done, the group may be closed.
 * <p>
 * Bad arguments are an {@link IllegalArgumentException} before anything is sent. A
 * {@link CollectiveException} means that the group is broken, on every rank, for the same
 * reason; each call after that throws it again. An interrupt while waiting aborts the
 * group, with the interrupt as the reason on every rank, and stays set.
 * <p>
 * Open to extension only so that a container can hand the group out before it has formed;
 * applications do not extend it.
 */
public class ProcessGroup implements AutoCloseable {

	private final GroupIdentity identity;

	private final Backend backend;

	private final FailureLatch latch;

	private final Timeouts timeouts;

	private final CallRunner runner;

	private final GroupFactory factory;

	private final FailureAgreement agreement;

	private final GroupSplit split;

	private final @Nullable PointToPoint messages;

	private volatile boolean closed;

	private volatile Runnable afterwards = () -> {
	};

	/**
	 * A formed group of collectives alone: no messages, no groups within it.
	 * @param latch trips when the group breaks; shared with whoever hears verdicts
	 * @param reporter where this rank's own failures go
	 */
	public ProcessGroup(GroupIdentity identity, Backend backend, FailureLatch latch, FailureReporter reporter,
			Timeouts timeouts) {
		this(identity, backend, latch, reporter, timeouts, GroupFactory.NONE);
	}

	/**
	 * A formed group. Applications get theirs from a backend's factory instead.
	 * @param latch trips when the group breaks; shared with whoever hears verdicts
	 * @param reporter where this rank's own failures go
	 * @param factory where messages and groups within this one come from
	 */
	@SuppressWarnings("this-escape") // The split keeps it for later calls.
	public ProcessGroup(GroupIdentity identity, Backend backend, FailureLatch latch, FailureReporter reporter,
			Timeouts timeouts, GroupFactory factory) {
		this.identity = identity;
		this.backend = backend;
		this.latch = latch;
		this.timeouts = timeouts;
		this.factory = factory;
		this.agreement = new FailureAgreement(identity, latch, reporter, timeouts.abort());
		this.messages = openMessages();
		this.runner = new CallRunner(identity, backend, latch, this.agreement);
		this.split = new GroupSplit(this, identity, factory);
	}

	/**
	 * Joins the group that this process's launcher speaks of, for a program without a
	 * framework: returns when every rank has come, at the latest by the rendezvous
	 * deadline. Who this rank is follows from the launcher's variables; the rest are the
	 * documented {@code tutti.*} properties, as system properties or as variables such as
	 * {@code TUTTI_TIMEOUT_HEARTBEAT}. Closing the group leaves the job and gives
	 * everything back. Once at a time in a process. What there is to say, such as that
	 * ranks of one host cannot share memory and why, goes to standard error.
	 * @throws RuntimeException that says what is wrong: with the configuration before
	 * anything is sent, or that the ranks did not meet and which are missing
	 */
	public static ProcessGroup fromEnvironment() {
		return fromEnvironment(new WordsOnStandardError());
	}

	/**
	 * As {@link #fromEnvironment()} for a program with a log of its own.
	 * @param listener hears of the group from the meeting on
	 */
	public static ProcessGroup fromEnvironment(CollectiveListener listener) {
		return EnvironmentGroups.load().join(listener);
	}

	/** This process's rank in the group. */
	public int rank() {
		return this.identity.rank();
	}

	/** How many ranks the group has. */
	public int worldSize() {
		return this.identity.worldSize();
	}

	/** The group's name. */
	public String name() {
		return this.identity.name();
	}

	/** Which forming of the job the group belongs to. */
	public long generation() {
		return this.identity.generation();
	}

	/** Name of the backend that carries out the collectives. */
	public String backend() {
		return this.backend.name();
	}

	/** Name of the transport that carries the group's data. */
	public String transport() {
		return this.backend.transport();
	}

	/**
	 * Whether collectives may be given segments in a GPU's memory, which nobody else must
	 * touch; both buffers of a call then are.
	 */
	public boolean takesDeviceMemory() {
		return this.backend.takesDeviceMemory();
	}

	/** Whether the group can still be used. */
	public GroupState state() {
		if (this.closed) {
			return GroupState.CLOSED;
		}
		return (this.latch.failure() != null) ? GroupState.BROKEN : GroupState.READY;
	}

	/** What broke the group, or {@code null} while it is whole. */
	public @Nullable Failure failure() {
		return this.latch.failure();
	}

	/** Sequence number of the last collective that this rank has begun, -1 for none. */
	public long lastEntered() {
		return this.runner.recorder().last();
	}

	/** The last calls of this rank in this group, and what all of them add up to. */
	public FlightRecorder recorder() {
		return this.runner.recorder();
	}

	/** Who belongs to the group. */
	public GroupIdentity identity() {
		return this.identity;
	}

	/**
	 * What this rank called at a place in the order of calls, since another rank waits
	 * there; for the control plane's thread.
	 * @return {@code null} if it is forgotten or has not begun; in that case it is posted
	 * as soon as it begins
	 */
	public @Nullable CallReport called(long sequence) {
		return this.runner.called(sequence);
	}

	/** Ends the sleep of a call that waits, so that it sees a failure at once. */
	public void wake() {
		this.backend.wake();
		PointToPoint opened = this.messages;
		if (opened != null) {
			opened.wake();
		}
	}

	/**
	 * Reduces the buffers of all ranks, element by element, into every rank's buffer.
	 * @param buffer this rank's operand, replaced by the result; the same size on every
	 * rank
	 */
	public void allReduce(MemorySegment buffer, DataType type, ReduceOp op) {
		allReduce(buffer, type, op, this.timeouts.collective());
	}

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} by a deadline. */
	public void allReduce(MemorySegment buffer, DataType type, ReduceOp op, Duration timeout) {
		this.runner.run(Collective.ALL_REDUCE, buffer, buffer, type, op, 0, timeout);
	}

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on the worker thread. */
	public CompletableFuture<Void> allReduceAsync(MemorySegment buffer, DataType type, ReduceOp op) {
		return this.runner.runAsync(Collective.ALL_REDUCE, buffer, buffer, type, op, 0, this.timeouts.collective());
	}

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	public void allReduce(float[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.FLOAT32, op);
	}

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	public void allReduce(double[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.FLOAT64, op);
	}

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	public void allReduce(int[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.INT32, op);
	}

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	public void allReduce(long[] values, ReduceOp op) {
		allReduce(MemorySegment.ofArray(values), DataType.INT64, op);
	}

	/**
	 * Reduces the buffers of all ranks, element by element, into the root's.
	 * @param send this rank's operand, left as it is; the same size on every rank
	 * @param receive the result, as large as {@code send}; looked at only on the root,
	 * where it may be the same segment as {@code send}
	 * @param root the rank that gets the result
	 */
	public void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root) {
		reduce(send, receive, type, op, root, this.timeouts.collective());
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} by a
	 * deadline.
	 */
	public void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root,
			Duration timeout) {
		this.runner.run(Collective.REDUCE, send, onRoot(receive, root), type, op, root, timeout);
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on the
	 * worker thread.
	 */
	public CompletableFuture<Void> reduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op,
			int root) {
		return this.runner.runAsync(Collective.REDUCE, send, onRoot(receive, root), type, op, root,
				this.timeouts.collective());
	}

	/**
	 * Copies the root's buffer to every rank.
	 * @param buffer read on the root, replaced on the others; the same size on every rank
	 * @param root the rank to copy from
	 */
	public void broadcast(MemorySegment buffer, DataType type, int root) {
		broadcast(buffer, type, root, this.timeouts.collective());
	}

	/** As {@link #broadcast(MemorySegment, DataType, int)} by a deadline. */
	public void broadcast(MemorySegment buffer, DataType type, int root, Duration timeout) {
		this.runner.run(Collective.BROADCAST, buffer, buffer, type, null, root, timeout);
	}

	/** As {@link #broadcast(MemorySegment, DataType, int)} on the worker thread. */
	public CompletableFuture<Void> broadcastAsync(MemorySegment buffer, DataType type, int root) {
		return this.runner.runAsync(Collective.BROADCAST, buffer, buffer, type, null, root, this.timeouts.collective());
	}

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	public void broadcast(float[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.FLOAT32, root);
	}

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	public void broadcast(double[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.FLOAT64, root);
	}

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	public void broadcast(int[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.INT32, root);
	}

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	public void broadcast(long[] values, int root) {
		broadcast(MemorySegment.ofArray(values), DataType.INT64, root);
	}

	/**
	 * Gives every rank the buffers of all ranks, in rank order.
	 * @param send this rank's part, {@code n} bytes on every rank
	 * @param receive {@code n × worldSize} bytes; must not overlap {@code send}
	 */
	public void allGather(MemorySegment send, MemorySegment receive, DataType type) {
		allGather(send, receive, type, this.timeouts.collective());
	}

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} by a deadline. */
	public void allGather(MemorySegment send, MemorySegment receive, DataType type, Duration timeout) {
		this.runner.run(Collective.ALL_GATHER, send, receive, type, null, 0, timeout);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on the worker thread.
	 */
	public CompletableFuture<Void> allGatherAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return this.runner.runAsync(Collective.ALL_GATHER, send, receive, type, null, 0, this.timeouts.collective());
	}

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	public void allGather(float[] send, float[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT32);
	}

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	public void allGather(double[] send, double[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT64);
	}

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	public void allGather(int[] send, int[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT32);
	}

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	public void allGather(long[] send, long[] receive) {
		allGather(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT64);
	}

	/**
	 * Gives every rank the buffers of all ranks, in rank order, where each rank's has a
	 * size of its own.
	 * @param send this rank's part: {@code counts[rank]} elements
	 * @param receive the sum of the counts in elements; must not overlap {@code send}
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 */
	public void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type) {
		allGather(send, receive, counts, type, this.timeouts.collective());
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, long[], DataType)} by a
	 * deadline.
	 */
	public void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type, Duration timeout) {
		this.runner.runUneven(Collective.ALL_GATHER, send, receive, type, null, counts, null, timeout);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, long[], DataType)} on the worker
	 * thread.
	 */
	public CompletableFuture<Void> allGatherAsync(MemorySegment send, MemorySegment receive, long[] counts,
			DataType type) {
		return this.runner.runUnevenAsync(Collective.ALL_GATHER, send, receive, type, null, counts, null,
				this.timeouts.collective());
	}

	/**
	 * Reduces the buffers of all ranks, element by element, and gives each rank its own
	 * part of the result, in rank order.
	 * @param send this rank's operand, {@code n × worldSize} bytes, left as it is
	 * @param receive this rank's part of the result, {@code n} bytes on every rank; must
	 * not overlap {@code send}
	 */
	public void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op) {
		reduceScatter(send, receive, type, op, this.timeouts.collective());
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} by a
	 * deadline.
	 */
	public void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, Duration timeout) {
		this.runner.run(Collective.REDUCE_SCATTER, send, receive, type, op, 0, timeout);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on the
	 * worker thread.
	 */
	public CompletableFuture<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, DataType type,
			ReduceOp op) {
		return this.runner.runAsync(Collective.REDUCE_SCATTER, send, receive, type, op, 0, this.timeouts.collective());
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	public void reduceScatter(float[] send, float[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT32, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	public void reduceScatter(double[] send, double[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.FLOAT64, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	public void reduceScatter(int[] send, int[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT32, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	public void reduceScatter(long[] send, long[] receive, ReduceOp op) {
		reduceScatter(MemorySegment.ofArray(send), MemorySegment.ofArray(receive), DataType.INT64, op);
	}

	/**
	 * Reduces the buffers of all ranks, element by element, and gives each rank its own
	 * part of the result, in rank order, where each part has a size of its own.
	 * @param send this rank's operand: the sum of the counts in elements
	 * @param receive this rank's part of the result: {@code counts[rank]} elements; must
	 * not overlap {@code send}
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 */
	public void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op) {
		reduceScatter(send, receive, counts, type, op, this.timeouts.collective());
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, long[], DataType, ReduceOp)}
	 * by a deadline.
	 */
	public void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op,
			Duration timeout) {
		this.runner.runUneven(Collective.REDUCE_SCATTER, send, receive, type, op, counts, null, timeout);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, long[], DataType, ReduceOp)}
	 * on the worker thread.
	 */
	public CompletableFuture<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, long[] counts,
			DataType type, ReduceOp op) {
		return this.runner.runUnevenAsync(Collective.REDUCE_SCATTER, send, receive, type, op, counts, null,
				this.timeouts.collective());
	}

	/**
	 * Gives the root the buffers of all ranks, in rank order.
	 * @param send this rank's part, {@code n} bytes on every rank
	 * @param receive {@code n × worldSize} bytes; looked at only on the root; must not
	 * overlap {@code send}
	 * @param root the rank that gets the parts
	 */
	public void gather(MemorySegment send, MemorySegment receive, DataType type, int root) {
		gather(send, receive, type, root, this.timeouts.collective());
	}

	/** As {@link #gather(MemorySegment, MemorySegment, DataType, int)} by a deadline. */
	public void gather(MemorySegment send, MemorySegment receive, DataType type, int root, Duration timeout) {
		this.runner.run(Collective.GATHER, send, onRoot(receive, root), type, null, root, timeout);
	}

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on the worker
	 * thread.
	 */
	public CompletableFuture<Void> gatherAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return this.runner.runAsync(Collective.GATHER, send, onRoot(receive, root), type, null, root,
				this.timeouts.collective());
	}

	/**
	 * Gives each rank its own part of the root's buffer, in rank order.
	 * @param send {@code n × worldSize} bytes; looked at only on the root
	 * @param receive this rank's part, {@code n} bytes on every rank; must not overlap
	 * {@code send}
	 * @param root the rank that gives the parts
	 */
	public void scatter(MemorySegment send, MemorySegment receive, DataType type, int root) {
		scatter(send, receive, type, root, this.timeouts.collective());
	}

	/** As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} by a deadline. */
	public void scatter(MemorySegment send, MemorySegment receive, DataType type, int root, Duration timeout) {
		this.runner.run(Collective.SCATTER, onRoot(send, root), receive, type, null, root, timeout);
	}

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on the worker
	 * thread.
	 */
	public CompletableFuture<Void> scatterAsync(MemorySegment send, MemorySegment receive, DataType type, int root) {
		return this.runner.runAsync(Collective.SCATTER, onRoot(send, root), receive, type, null, root,
				this.timeouts.collective());
	}

	/**
	 * Gives each rank one part from every rank, in rank order.
	 * @param send a part of {@code n} bytes for each rank; the same size on every rank
	 * @param receive a part of {@code n} bytes from each rank; must not overlap
	 * {@code send}
	 */
	public void allToAll(MemorySegment send, MemorySegment receive, DataType type) {
		allToAll(send, receive, type, this.timeouts.collective());
	}

	/** As {@link #allToAll(MemorySegment, MemorySegment, DataType)} by a deadline. */
	public void allToAll(MemorySegment send, MemorySegment receive, DataType type, Duration timeout) {
		this.runner.run(Collective.ALL_TO_ALL, send, receive, type, null, 0, timeout);
	}

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on the worker thread.
	 */
	public CompletableFuture<Void> allToAllAsync(MemorySegment send, MemorySegment receive, DataType type) {
		return this.runner.runAsync(Collective.ALL_TO_ALL, send, receive, type, null, 0, this.timeouts.collective());
	}

	/**
	 * Gives each rank one part from every rank, in rank order, each of a size of its own.
	 * What a rank sends to another must be what that one receives from it.
	 * @param send the parts for each rank: the sum of {@code sendCounts} in elements
	 * @param sendCounts elements for each rank, by rank
	 * @param receive the parts from each rank: the sum of {@code receiveCounts} in
	 * elements; must not overlap {@code send}
	 * @param receiveCounts elements from each rank, by rank
	 */
	public void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type) {
		allToAll(send, sendCounts, receive, receiveCounts, type, this.timeouts.collective());
	}

	/**
	 * As {@link #allToAll(MemorySegment, long[], MemorySegment, long[], DataType)} by a
	 * deadline.
	 */
	public void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type, Duration timeout) {
		this.runner.runUneven(Collective.ALL_TO_ALL, send, receive, type, null, sendCounts, receiveCounts, timeout);
	}

	/**
	 * As {@link #allToAll(MemorySegment, long[], MemorySegment, long[], DataType)} on the
	 * worker thread.
	 */
	public CompletableFuture<Void> allToAllAsync(MemorySegment send, long[] sendCounts, MemorySegment receive,
			long[] receiveCounts, DataType type) {
		return this.runner.runUnevenAsync(Collective.ALL_TO_ALL, send, receive, type, null, sendCounts, receiveCounts,
				this.timeouts.collective());
	}

	/** Returns when every rank has called it. */
	public void barrier() {
		barrier(this.timeouts.collective());
	}

	/** As {@link #barrier()} by a deadline. */
	public void barrier(Duration timeout) {
		this.runner.run(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null, 0, timeout);
	}

	/** As {@link #barrier()} on the worker thread. */
	public CompletableFuture<Void> barrierAsync() {
		return this.runner.runAsync(Collective.BARRIER, MemorySegment.NULL, MemorySegment.NULL, DataType.FLOAT32, null,
				0, this.timeouts.collective());
	}

	/**
	 * Allocates a buffer on which calls are fastest: between ranks of one host it lies in
	 * memory that all of them reach, so that nothing is copied on the way. Calls of other
	 * sizes and places in it do as well, as long as every rank's buffer was allocated so.
	 * Every rank calls this in the same order, as it does collectives, but not
	 * asynchronously.
	 * @param bytes at least 0; the same on every rank
	 * @return zeros, of that size, to be used from any thread; ends with the group
	 */
	public MemorySegment allocate(long bytes) {
		if (bytes < 0) {
			throw new IllegalArgumentException("a buffer must have at least 0 bytes, got " + bytes);
		}
		return this.backend.allocate(bytes, new GroupExchange(this), Deadline.after(this.timeouts.collective()));
	}

	/**
	 * Sends a message to one rank, outside the order of collectives. A message of up to
	 * 64 KiB (eager protocol) need not have arrived when this returns; a larger one
	 * (rendezvous protocol) waits until the peer receives it. The peer buffers up to 64
	 * MiB of eager messages that it has not received yet, whatever it does meanwhile;
	 * beyond that, sends wait until it receives some.
	 * @param buffer the message: whole elements, or none
	 * @param peer the rank to send to; may be this one
	 * @param tag what the receive must ask for, 0 or more
	 */
	public void send(MemorySegment buffer, DataType type, int peer, int tag) {
		send(buffer, type, peer, tag, this.timeouts.collective());
	}

	/** As {@link #send(MemorySegment, DataType, int, int)} by a deadline. */
	public void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		messages().send(buffer, type, peer, tag, timeout);
	}

	/**
	 * As {@link #send(MemorySegment, DataType, int, int)} without waiting; the buffer
	 * must stay untouched until the future is done.
	 */
	public CompletableFuture<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag) {
		return CallFuture.of(messages().sendAsync(buffer, type, peer, tag, this.timeouts.collective()),
				() -> "send to rank " + peer + " with tag " + tag, this::abort);
	}

	/**
	 * Receives the first message from a rank with a tag that no earlier receive takes.
	 * @param buffer where it goes; may be larger than the message
	 * @param peer the rank that sends; may be this one
	 * @param tag the tag it sends with, 0 or more
	 * @return how many elements came
	 * @throws MessageMismatchException if the message is larger than the buffer or of
	 * another type; it is dropped and the group stays whole
	 */
	public long receive(MemorySegment buffer, DataType type, int peer, int tag) {
		return receive(buffer, type, peer, tag, this.timeouts.collective());
	}

	/** As {@link #receive(MemorySegment, DataType, int, int)} by a deadline. */
	public long receive(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout) {
		return messages().receive(buffer, type, peer, tag, timeout);
	}

	/**
	 * As {@link #receive(MemorySegment, DataType, int, int)} from a rank or
	 * {@link Message#ANY_SOURCE}, with a tag or {@link Message#ANY_TAG}.
	 */
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag) {
		return receiveAny(buffer, type, source, tag, this.timeouts.collective());
	}

	/** As {@link #receiveAny(MemorySegment, DataType, int, int)} by a deadline. */
	public Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout) {
		return messages().receiveAny(buffer, type, source, tag, timeout);
	}

	/**
	 * As {@link #receiveAny(MemorySegment, DataType, int, int)} without waiting; the
	 * buffer must stay untouched until the future is done.
	 */
	public CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag) {
		return CallFuture.of(messages().receiveAsync(buffer, type, source, tag, this.timeouts.collective()),
				() -> "receive from " + ((source == Message.ANY_SOURCE) ? "any rank" : "rank " + source), this::abort);
	}

	/**
	 * Sends one message and receives another, both at once.
	 * @param peer the rank to send to
	 * @param source the rank to receive from
	 * @return how many elements came
	 */
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag) {
		return sendReceive(send, peer, receive, source, type, tag, this.timeouts.collective());
	}

	/**
	 * As {@link #sendReceive(MemorySegment, int, MemorySegment, int, DataType, int)} by a
	 * deadline.
	 */
	public long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout) {
		return messages().sendReceive(send, peer, receive, source, type, tag, timeout);
	}

	private @Nullable PointToPoint openMessages() {
		try {
			return this.factory.pointToPoint(this.identity, this.latch, this.agreement);
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

	/**
	 * Makes groups within this one: ranks of one colour form a group, in the order of
	 * their keys and, where those are equal, of their ranks here. Collective: every rank
	 * of this group calls it, as one of its calls in issue order. The new group has
	 * connections of its own, runs beside this one, and outlives it; its owner closes it.
	 * To close a group of {@code fromEnvironment} leaves the job: that closes every group
	 * within it too.
	 * @param color which group to be in; negative for none
	 * @return the group, or {@code null} for a negative colour
	 */
	public @Nullable ProcessGroup split(int color, int key) {
		return this.split.byColor(color, key);
	}

	/**
	 * Makes one group within this one. Collective, as {@link #split(int, int)} is.
	 * @param ranks ranks of this group, each once, in the order they have in the new one;
	 * the same on every rank
	 * @return the group, or {@code null} on a rank that is not in it
	 */
	public @Nullable ProcessGroup subgroup(List<Integer> ranks) {
		return this.split.of(ranks);
	}

	/** A buffer where it is looked at; elsewhere it may be anything. */
	private MemorySegment onRoot(MemorySegment buffer, int root) {
		return (rank() == root) ? buffer : MemorySegment.NULL;
	}

	/** Aborts the group if somebody wants the calling thread back. */
	void requireNotInterrupted() {
		if (Thread.currentThread().isInterrupted()) {
			Failure failure = Failure.outside(Failure.Kind.ABORTED, name(), List.of(this.identity.worldRank()),
					"the calling thread was interrupted");
			CollectiveException cause = this.agreement
				.settle(CollectiveException.of(this.identity.worldRank(), failure, new InterruptedException()));
			wake();
			throw cause;
		}
	}

	/**
	 * Ends the group on every rank, with a reason that each of them will name. From any
	 * thread, any number of times; the first failure stays the cause. Waits for rank 0's
	 * verdict, at most the abort timeout.
	 */
	public void abort(String reason) {
		this.agreement.abort(reason);
		wake();
	}

	/**
	 * Leaves the group: calls that run or wait on this rank fail, then connections and
	 * memory are given back. Does nothing the second time. Calls of other ranks that this
	 * one has completed are not disturbed; their later calls that need it fail. Sends
	 * that have returned are sent first, for at most {@code tutti.timeout.drain}.
	 * @throws CollectiveException if they cannot be sent in that time: the group is
	 * closed then, and broken on every rank
	 */
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
			this.agreement.leave(recorder().lastCompleted());
			this.backend.close();
			this.factory.closed(this);
			this.afterwards.run();
		}
	}

	/**
	 * What is to be given back after this group, once, when it is closed; for whoever
	 * hands out a group and nothing beside it.
	 */
	public void whenClosed(Runnable action) {
		this.afterwards = action;
	}

}
