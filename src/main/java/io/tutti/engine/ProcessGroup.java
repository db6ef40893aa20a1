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
 * The caller must keep a buffer alive and untouched until the call is done. Results are
 * bit-identical on every rank and from run to run.
 * <p>
 * Bad arguments are an {@link IllegalArgumentException} before anything is sent. A
 * {@link CollectiveException} means that the group is broken, on every rank, for the same
 * reason; each call after that throws it again. An interrupt while waiting aborts the
 * group.
 */
public final class ProcessGroup implements AutoCloseable {

	private final GroupIdentity identity;

	private final Backend backend;

	private final FailureLatch latch;

	private final FailureReporter reporter;

	private final Timeouts timeouts;

	private final CallRunner runner;

	private volatile boolean closed;

	/**
	 * A formed group. Applications get theirs from a backend's factory instead.
	 * @param latch trips when the group breaks; shared with whoever hears verdicts
	 * @param reporter where this rank's own failures go
	 */
	public ProcessGroup(GroupIdentity identity, Backend backend, FailureLatch latch, FailureReporter reporter,
			Timeouts timeouts) {
		this.identity = identity;
		this.backend = backend;
		this.latch = latch;
		this.reporter = reporter;
		this.timeouts = timeouts;
		this.runner = new CallRunner(identity, backend, latch, reporter, timeouts);
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
		return this.runner.lastEntered();
	}

	/** Ends the sleep of a call that waits, so that it sees a failure at once. */
	public void wake() {
		this.backend.wake();
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
	 * Ends the group on every rank, with a reason that each of them will name. From any
	 * thread, any number of times; the first failure stays the cause.
	 */
	public void abort(String reason) {
		Failure failure = Failure.outside(Failure.Kind.ABORTED, name(), List.of(this.identity.worldRank()), reason);
		if (this.latch.trip(failure)) {
			this.reporter.report(failure);
		}
		this.backend.wake();
	}

	/**
	 * Leaves the group: calls that run or wait on this rank fail, then connections and
	 * memory are given back. Does nothing the second time. Ranks that still call
	 * collectives will find this one gone.
	 */
	@Override
	public void close() {
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.closed = true;
		}
		this.runner.close();
		this.backend.close();
	}

}
