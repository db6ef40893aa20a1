package io.tutti;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One rank's view of a group of ranks that call collectives together.
 * <p>
 * Every rank must issue the same collectives in the same order, with the same counts,
 * types, operators and roots. A synchronous call runs on the caller's own thread and
 * returns when this rank's part is done; an {@code …Async} call runs on the group's one
 * worker thread and completes its future. Both kinds may be mixed, from any thread. Calls
 * run in the order they were issued.
 * <p>
 * A buffer is a {@link MemorySegment}, on or off the heap, of whole elements in native
 * byte order; its size determines the count. Heap segments are copied through native
 * memory. The caller must keep a buffer alive and untouched until the call returns or its
 * future completes: closing its arena during a call frees memory that the call writes.
 * While an asynchronous collective runs, closing the arena of one of its buffers throws
 * an {@link IllegalStateException}. A confined arena does not support this, so an
 * asynchronous collective rejects its memory. Results are bit-identical on every rank and
 * from run to run.
 * <p>
 * Only the call itself completes the future of an {@code …Async} call, so the future is
 * never done while the call still writes. Attempts to cancel or complete it have no
 * effect and return {@code false}. Its {@code orTimeout} aborts the group, as every
 * deadline does. {@code completeOnTimeout}, {@code completeAsync} and {@code obtrude…}
 * are not supported. Dependent stages and copies are ordinary futures. Once a future is
 * done, the group may be closed.
 * <p>
 * A bad argument causes an {@link IllegalArgumentException} before any data is sent. A
 * {@link CollectiveException} means that the group is broken on every rank for the same
 * reason; every later call throws it again. An interrupt during a wait aborts the group
 * with the interrupt as the reason on every rank. The interrupt status stays set.
 */
public interface ProcessGroup extends AutoCloseable {

	/**
	 * Joins the group that the launcher's environment variables describe, for a program
	 * without a framework. Returns when every rank has joined, at the latest at the
	 * rendezvous deadline. The launcher's variables determine this rank; the documented
	 * {@code tutti.*} properties determine the rest, as system properties or as variables
	 * such as {@code TUTTI_TIMEOUT_HEARTBEAT}. Closing the group leaves the job and
	 * releases all resources. A process can have one such group at a time. Diagnostics go
	 * to standard error, such as the reason why ranks of one host cannot share memory.
	 * @throws RuntimeException if the configuration is invalid, before any data is sent,
	 * or if the rendezvous fails; the message names the missing ranks
	 */
	static ProcessGroup fromEnvironment() {
		return fromEnvironment(new StderrListener());
	}

	/**
	 * As {@link #fromEnvironment()} for a program that has its own log.
	 * @param listener receives events from rendezvous on
	 */
	static ProcessGroup fromEnvironment(CollectiveListener listener) {
		return EnvironmentGroups.load().join(listener);
	}

	/** This process's rank in the group. */
	int rank();

	/** How many ranks the group has. */
	int worldSize();

	/** The group's name. */
	String name();

	/** Generation of the job that the group belongs to. */
	long generation();

	/** Name of the backend that executes the collectives. */
	String backend();

	/** Name of the transport that carries the group's data. */
	String transport();

	/**
	 * Whether collectives accept segments in GPU memory. Both buffers of such a call are
	 * in GPU memory, and no other code may access them during the call.
	 */
	boolean takesDeviceMemory();

	/** Whether the group can still be used. */
	GroupState state();

	/** The failure that broke the group, {@code null} if it is not broken. */
	@Nullable Failure failure();

	/** Sequence number of the last collective that this rank has started, -1 for none. */
	long lastEntered();

	/**
	 * Reduces the buffers of all ranks, element by element, into every rank's buffer.
	 * @param buffer this rank's operand, replaced by the result; the same size on every
	 * rank
	 */
	void allReduce(MemorySegment buffer, DataType type, ReduceOp op);

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} by a deadline. */
	void allReduce(MemorySegment buffer, DataType type, ReduceOp op, Duration timeout);

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on the worker thread. */
	CompletableFuture<Void> allReduceAsync(MemorySegment buffer, DataType type, ReduceOp op);

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	void allReduce(float[] values, ReduceOp op);

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	void allReduce(double[] values, ReduceOp op);

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	void allReduce(int[] values, ReduceOp op);

	/** As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array. */
	void allReduce(long[] values, ReduceOp op);

	/**
	 * Reduces the buffers of all ranks, element by element, into the root's.
	 * @param send this rank's operand, left as it is; the same size on every rank
	 * @param receive the result, as large as {@code send}; used only on the root, where
	 * it may be the same segment as {@code send}
	 * @param root the rank that gets the result
	 */
	void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root);

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} by a
	 * deadline.
	 */
	void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root, Duration timeout);

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on the
	 * worker thread.
	 */
	CompletableFuture<Void> reduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op,
			int root);

	/**
	 * Copies the root's buffer to every rank.
	 * @param buffer read on the root, replaced on the others; the same size on every rank
	 * @param root the rank to copy from
	 */
	void broadcast(MemorySegment buffer, DataType type, int root);

	/** As {@link #broadcast(MemorySegment, DataType, int)} by a deadline. */
	void broadcast(MemorySegment buffer, DataType type, int root, Duration timeout);

	/** As {@link #broadcast(MemorySegment, DataType, int)} on the worker thread. */
	CompletableFuture<Void> broadcastAsync(MemorySegment buffer, DataType type, int root);

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	void broadcast(float[] values, int root);

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	void broadcast(double[] values, int root);

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	void broadcast(int[] values, int root);

	/** As {@link #broadcast(MemorySegment, DataType, int)} on an array. */
	void broadcast(long[] values, int root);

	/**
	 * Gives every rank the buffers of all ranks, in rank order.
	 * @param send this rank's part, {@code n} bytes on every rank
	 * @param receive {@code n × worldSize} bytes; must not overlap {@code send}
	 */
	void allGather(MemorySegment send, MemorySegment receive, DataType type);

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} by a deadline. */
	void allGather(MemorySegment send, MemorySegment receive, DataType type, Duration timeout);

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on the worker thread.
	 */
	CompletableFuture<Void> allGatherAsync(MemorySegment send, MemorySegment receive, DataType type);

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	void allGather(float[] send, float[] receive);

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	void allGather(double[] send, double[] receive);

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	void allGather(int[] send, int[] receive);

	/** As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays. */
	void allGather(long[] send, long[] receive);

	/**
	 * Gives every rank the buffers of all ranks, in rank order. The sizes may differ by
	 * rank.
	 * @param send this rank's part: {@code counts[rank]} elements
	 * @param receive the sum of the counts in elements; must not overlap {@code send}
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 */
	void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type);

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, long[], DataType)} by a
	 * deadline.
	 */
	void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type, Duration timeout);

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, long[], DataType)} on the worker
	 * thread.
	 */
	CompletableFuture<Void> allGatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type);

	/**
	 * Reduces the buffers of all ranks, element by element, and gives each rank its own
	 * part of the result, in rank order.
	 * @param send this rank's operand, {@code n × worldSize} bytes, left as it is
	 * @param receive this rank's part of the result, {@code n} bytes on every rank; must
	 * not overlap {@code send}
	 */
	void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} by a
	 * deadline.
	 */
	void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, Duration timeout);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on the
	 * worker thread.
	 */
	CompletableFuture<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	void reduceScatter(float[] send, float[] receive, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	void reduceScatter(double[] send, double[] receive, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	void reduceScatter(int[] send, int[] receive, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays.
	 */
	void reduceScatter(long[] send, long[] receive, ReduceOp op);

	/**
	 * Reduces the buffers of all ranks, element by element, and gives each rank its own
	 * part of the result, in rank order. The sizes of the parts may differ.
	 * @param send this rank's operand: the sum of the counts in elements
	 * @param receive this rank's part of the result: {@code counts[rank]} elements; must
	 * not overlap {@code send}
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 */
	void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, long[], DataType, ReduceOp)}
	 * by a deadline.
	 */
	void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op,
			Duration timeout);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, long[], DataType, ReduceOp)}
	 * on the worker thread.
	 */
	CompletableFuture<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type,
			ReduceOp op);

	/**
	 * Gives the root the buffers of all ranks, in rank order.
	 * @param send this rank's part, {@code n} bytes on every rank
	 * @param receive {@code n × worldSize} bytes; used only on the root; must not overlap
	 * {@code send}
	 * @param root the rank that gets the parts
	 */
	void gather(MemorySegment send, MemorySegment receive, DataType type, int root);

	/** As {@link #gather(MemorySegment, MemorySegment, DataType, int)} by a deadline. */
	void gather(MemorySegment send, MemorySegment receive, DataType type, int root, Duration timeout);

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on the worker
	 * thread.
	 */
	CompletableFuture<Void> gatherAsync(MemorySegment send, MemorySegment receive, DataType type, int root);

	/**
	 * Gives each rank its own part of the root's buffer, in rank order.
	 * @param send {@code n × worldSize} bytes; used only on the root
	 * @param receive this rank's part, {@code n} bytes on every rank; must not overlap
	 * {@code send}
	 * @param root the rank that sends the parts
	 */
	void scatter(MemorySegment send, MemorySegment receive, DataType type, int root);

	/** As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} by a deadline. */
	void scatter(MemorySegment send, MemorySegment receive, DataType type, int root, Duration timeout);

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on the worker
	 * thread.
	 */
	CompletableFuture<Void> scatterAsync(MemorySegment send, MemorySegment receive, DataType type, int root);

	/**
	 * Gives each rank one part from every rank, in rank order.
	 * @param send a part of {@code n} bytes for each rank; the same size on every rank
	 * @param receive a part of {@code n} bytes from each rank; must not overlap
	 * {@code send}
	 */
	void allToAll(MemorySegment send, MemorySegment receive, DataType type);

	/** As {@link #allToAll(MemorySegment, MemorySegment, DataType)} by a deadline. */
	void allToAll(MemorySegment send, MemorySegment receive, DataType type, Duration timeout);

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on the worker thread.
	 */
	CompletableFuture<Void> allToAllAsync(MemorySegment send, MemorySegment receive, DataType type);

	/**
	 * Gives each rank one part from every rank, in rank order. The sizes of the parts may
	 * differ. The count that a rank sends to a peer must equal the count that the peer
	 * receives from it.
	 * @param send the parts for each rank: the sum of {@code sendCounts} in elements
	 * @param sendCounts elements for each rank, by rank
	 * @param receive the parts from each rank: the sum of {@code receiveCounts} in
	 * elements; must not overlap {@code send}
	 * @param receiveCounts elements from each rank, by rank
	 */
	void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts, DataType type);

	/**
	 * As {@link #allToAll(MemorySegment, long[], MemorySegment, long[], DataType)} by a
	 * deadline.
	 */
	void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts, DataType type,
			Duration timeout);

	/**
	 * As {@link #allToAll(MemorySegment, long[], MemorySegment, long[], DataType)} on the
	 * worker thread.
	 */
	CompletableFuture<Void> allToAllAsync(MemorySegment send, long[] sendCounts, MemorySegment receive,
			long[] receiveCounts, DataType type);

	/** Returns when every rank has called it. */
	void barrier();

	/** As {@link #barrier()} by a deadline. */
	void barrier(Duration timeout);

	/** As {@link #barrier()} on the worker thread. */
	CompletableFuture<Void> barrierAsync();

	/**
	 * Allocates a buffer on which calls are fastest: ranks of one host map each other's
	 * buffers, so no staging copy is needed. Calls may use any part of the buffer,
	 * provided that every rank's buffer comes from this method. Every rank calls this
	 * method in the same order, as it does collectives, but not asynchronously.
	 * @param bytes at least 0; the same on every rank
	 * @return a zeroed buffer of that size, accessible from any thread until the group is
	 * closed
	 */
	MemorySegment allocate(long bytes);

	/**
	 * Sends a message to one rank, outside the order of collectives. A message of up to
	 * 64 KiB (eager protocol) need not have arrived when this returns; a larger one
	 * (rendezvous protocol) waits until the peer receives it. The peer buffers up to 64
	 * MiB of eager messages that it has not received yet, in the background. Above that
	 * limit, sends wait until the peer receives some of them.
	 * @param buffer the message: whole elements, or none
	 * @param peer the rank to send to; may be this one
	 * @param tag the tag that the receive must match, 0 or more
	 */
	void send(MemorySegment buffer, DataType type, int peer, int tag);

	/** As {@link #send(MemorySegment, DataType, int, int)} by a deadline. */
	void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/**
	 * As {@link #send(MemorySegment, DataType, int, int)} without waiting; the buffer
	 * must stay untouched until the future is done.
	 */
	CompletableFuture<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag);

	/**
	 * Receives a rank's first message with this tag that no earlier receive matches.
	 * @param buffer receives the message; may be larger than it
	 * @param peer the rank that sends; may be this one
	 * @param tag the tag it sends with, 0 or more
	 * @return the number of elements received
	 * @throws MessageMismatchException if the message is larger than the buffer or of
	 * another type; the message is dropped and the group stays usable
	 */
	long receive(MemorySegment buffer, DataType type, int peer, int tag);

	/** As {@link #receive(MemorySegment, DataType, int, int)} by a deadline. */
	long receive(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/**
	 * As {@link #receive(MemorySegment, DataType, int, int)} from a rank or
	 * {@link Message#ANY_SOURCE}, with a tag or {@link Message#ANY_TAG}.
	 */
	Message receiveAny(MemorySegment buffer, DataType type, int source, int tag);

	/** As {@link #receiveAny(MemorySegment, DataType, int, int)} by a deadline. */
	Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/**
	 * As {@link #receiveAny(MemorySegment, DataType, int, int)} without waiting; the
	 * buffer must stay untouched until the future is done.
	 */
	CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag);

	/**
	 * Sends one message and receives another at the same time.
	 * @param peer the rank to send to
	 * @param source the rank to receive from
	 * @return the number of elements received
	 */
	long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag);

	/**
	 * As {@link #sendReceive(MemorySegment, int, MemorySegment, int, DataType, int)} by a
	 * deadline.
	 */
	long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout);

	/**
	 * Creates subgroups of this group: ranks with the same colour form a group, ordered
	 * by key and, for equal keys, by their rank in this group. Collective: every rank of
	 * this group calls it, in issue order. The new group has its own connections, is
	 * independent of this one, and outlives it; the caller closes it. Closing a group
	 * from {@code fromEnvironment} leaves the job and closes all its subgroups.
	 * @param color the group to join; negative for none
	 * @return the group, or {@code null} for a negative colour
	 */
	@Nullable ProcessGroup split(int color, int key);

	/**
	 * Creates one subgroup of this group. Collective, as {@link #split(int, int)} is.
	 * @param ranks ranks of this group, each once, in the order of the new group; the
	 * same on every rank
	 * @return the group, or {@code null} on a rank that is not in it
	 */
	@Nullable ProcessGroup subgroup(List<Integer> ranks);

	/**
	 * Breaks the group on every rank with a reason that every rank reports. May be called
	 * from any thread, any number of times; the first failure remains the cause. Waits
	 * for rank 0's verdict for at most the abort timeout.
	 */
	void abort(String reason);

	/**
	 * Leaves the group: running and waiting calls on this rank fail, then connections and
	 * memory are released. A second call has no effect. Calls that this rank has
	 * completed can still complete on other ranks; their later calls that need this rank
	 * fail. Queued messages of sends that have returned are sent first, for at most
	 * {@code tutti.timeout.drain}.
	 * @throws CollectiveException if they cannot be sent in that time; the group is then
	 * closed, and broken on every rank
	 */
	@Override
	void close();

}
