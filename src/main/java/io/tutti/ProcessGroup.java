package io.tutti;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * One rank's view of a group of ranks that call collectives together.
 * <p>
 * <b>Order.</b> Every rank must issue the same collectives in the same order, with the
 * same counts, types, operators and roots. Every method that transfers data among all
 * ranks is such a collective, also {@link #allocate}, {@link #free}, {@link #split} and
 * {@link #subgroup}: these four consist of one or more all-gathers, each with a sequence
 * number, and {@link Collective#ALL_GATHER} is the collective of their failures. A
 * synchronous call runs on the caller's own thread and returns when this rank's part is
 * done; an {@code …Async} call runs on the group's one worker thread and returns a
 * {@link Work}. Both kinds may be mixed, from any thread, and run in the order they were
 * issued. Messages ({@link #send}, {@link #receive}) are outside that order.
 * <p>
 * <b>Buffers.</b> A buffer is a {@link MemorySegment}, on or off the heap, of whole
 * elements in native byte order; its size determines the count. Arrays and byte buffers
 * are accepted in its place. Heap memory is copied through native memory. All types can
 * be used with all collectives. Reductions accept every {@link ReduceOp} for every type,
 * except that bit-wise and logical operators need an integer type and that {@link #scan}
 * and {@link #exclusiveScan} have no {@link ReduceOp#AVERAGE}.
 * <p>
 * <b>Lifetime of buffers.</b> The caller leaves a buffer alive and untouched until the
 * call returns or its work is done. The group keeps the memory of automatic arenas and
 * arrays reachable until then. While an asynchronous collective runs, closing the shared
 * arena of its buffers throws an {@link IllegalStateException}; that of a list of buffers
 * may close, and the group breaks if the call still needs it. So it does if a buffer is
 * closed before the turn of its call, or before the end of a message that send and
 * receive have matched; a receiver on the same host that reads the sender's memory may
 * have got other bytes before the group breaks. A receive whose buffer is closed earlier
 * fails alone when its message arrives. An asynchronous call refuses memory of a confined
 * arena, which cannot be protected. A synchronous call does not protect its buffers:
 * closing their arena on another thread during the call frees memory that the call
 * writes. Leave a buffer of {@link #allocate} in a call that has failed untouched until
 * the group is closed: a rank that was stopped meanwhile, for example by a debugger, may
 * still write to it. On an MPI library ({@code tutti.mpi.library}), leave the native
 * buffers of a call or message that has failed with the group alive and untouched until
 * the process ends, since the library may still read and write them. Nor does it protect
 * a posted receive, whose message it writes to the address of a closed buffer: cancel the
 * receive first.
 * <p>
 * <b>Results</b> are bit-identical on every rank and from run to run. The documentation
 * lists the algorithms and their papers ({@code algorithms.md}).
 * <p>
 * <b>On an MPI library</b> ({@code mpi.md}) the library determines the order of
 * reduction, a send that misses its deadline breaks the group, and the element type takes
 * a part of the tag: tags are smaller, and a receive with a tag matches only messages of
 * its own type.
 * <p>
 * <b>Failures.</b> A {@link CollectiveException} means that the group is broken on every
 * rank for the same reason; every later call throws it again. The exception is a send,
 * receive or probe whose deadline passes before a message has matched: it fails alone,
 * and the group stays usable. A send that the peer knows of must get the peer's answer
 * that nothing has matched it within two seconds, or the group breaks. A rank whose part
 * of a collective was done before another rank failed has returned with the right result,
 * and its next call throws. Ranks that call different collectives get a
 * {@link CollectiveMismatchException} before they use each other's data. A rank that
 * needs no data, such as the root of a broadcast, may return first and gets it from its
 * next call; end with a {@link #barrier} if the last call has such ranks. Any other
 * passed deadline breaks the group, as does an interrupt during a wait, whose status
 * stays set. {@link ExitCode#of} maps exceptions to exit codes.
 * <p>
 * <b>Exceptions.</b> A wrong argument that this rank finds before it communicates causes
 * an {@link IllegalArgumentException}, a {@link NullPointerException} or, for what the
 * backend lacks, an {@link UnsupportedOperationException}, whose message names the rank
 * in the group, the group, the call and the argument. Every other exception is a
 * {@link Failure.Origin}: it holds rank, number of ranks, peers, group, collective and
 * sequence number as data. Those are, besides {@code CollectiveException}, an
 * {@link IllegalStateException} of a call that this rank's group or buffer does not allow
 * any more, such as any call after {@link #close}; an {@code IllegalArgumentException}
 * with exit code {@link ExitCode#MISMATCH} if ranks pass different arguments to
 * {@link #allocate}, {@link #free} or {@link #subgroup};
 * {@link MessageMismatchException}; a {@link java.util.concurrent.CancellationException}
 * of a withdrawn message; and a {@link java.io.UncheckedIOException} if a subgroup or
 * buffer cannot be set up. They leave the group usable, unless it is closed.
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
	 * @return the group of all ranks
	 * @throws IllegalStateException if this process has such a group already
	 * @throws BadConfigurationException if a property is invalid, or its name is misspelt
	 * @throws RuntimeException with an exit code of its own ({@link ExitCode#of}) if the
	 * launcher's variables are malformed, or if the rendezvous fails; the message names
	 * the missing ranks
	 */
	static ProcessGroup fromEnvironment() {
		return fromEnvironment(new StderrListener());
	}

	/**
	 * As {@link #fromEnvironment()} for a program that has its own log.
	 * @param listener receives events from rendezvous on
	 * @return the group of all ranks
	 */
	static ProcessGroup fromEnvironment(CollectiveListener listener) {
		return EnvironmentGroups.load().join(listener);
	}

	/**
	 * This process's rank in the group.
	 * @return this process's rank in the group
	 */
	int rank();

	/**
	 * How many ranks the group has.
	 * @return how many ranks the group has
	 */
	int worldSize();

	/**
	 * The group's name.
	 * @return the group's name
	 */
	String name();

	/**
	 * Generation of the job that the group belongs to.
	 * @return generation of the job that the group belongs to
	 */
	long generation();

	/**
	 * Whether the group belongs to an {@link ElasticGroup}, whose next generation
	 * replaces it when a rank is lost. What only one rank holds is lost with that rank.
	 * @return whether the group is one generation of an elastic group
	 */
	boolean isElastic();

	/**
	 * Name of the backend that executes the collectives.
	 * @return name of the backend that executes the collectives
	 */
	String backend();

	/**
	 * Name of the transport that carries the group's data: {@code shm} if all ranks of
	 * the group share memory, {@code tcp} if no two do, also with one rank,
	 * {@code shm+tcp} if some do, or the version of an MPI library.
	 * @return name of the transport that carries the group's data
	 */
	String transport();

	/**
	 * Whether collectives accept segments in GPU memory. Both buffers of such a call are
	 * in GPU memory, and no other code may access them during the call. A call waits for
	 * no stream: work on the GPU that fills the buffers must be complete before it.
	 * @return whether collectives accept segments in GPU memory
	 */
	boolean takesDeviceMemory();

	/**
	 * Whether the group can still be used.
	 * @return whether the group can still be used
	 */
	GroupState state();

	/**
	 * The failure that broke the group, {@code null} if it is not broken.
	 * @return the failure that broke the group, {@code null} if it is not broken
	 */
	@Nullable Failure failure();

	/**
	 * Sequence number of the last collective that this rank has started, -1 for none.
	 * @return sequence number of the last collective that this rank has started, -1 for
	 * none
	 */
	long lastEntered();

	/**
	 * Time limit of calls on this view of the group.
	 * @return time limit of calls on this view of the group
	 */
	Duration timeout();

	/**
	 * The same group with another time limit for each call, synchronous or asynchronous.
	 * The limit of an asynchronous call includes its wait for its turn. The view shares
	 * everything else with this group; closing one closes both. Groups that
	 * {@link #split} and {@link #subgroup} create have the default limit
	 * ({@code tutti.timeout.collective}) and no label, also if a view creates them.
	 * @param timeout more than zero; the limit of this rank's calls. Ranks may differ:
	 * the first deadline that passes breaks the group on every rank
	 * @return the same group with another time limit for each call, synchronous or
	 * asynchronous
	 */
	ProcessGroup withTimeout(Duration timeout);

	/**
	 * The same group with a label for its calls, such as the name of a layer. It appears
	 * in this rank's failures and flight recorder. It need not be the same on all ranks.
	 * The recorder distinguishes up to 1,000 labels of a group.
	 * @param label text of at most 200 characters; empty for none
	 * @return the same group with a label for its calls, such as the name of a layer
	 */
	ProcessGroup withLabel(String label);

	/**
	 * Reduces the buffers of all ranks, element by element, in place: every rank gets the
	 * result. Each rank sends and receives about {@code 2 × (worldSize - 1) / worldSize}
	 * times the buffer.
	 * @param buffer this rank's operand of any number of elements, the same on every
	 * rank; replaced by the result
	 * @param type element type of the buffers
	 * @param op operator that combines the operands
	 */
	void allReduce(MemorySegment buffer, DataType type, ReduceOp op);

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on the buffer between
	 * position and limit, in native byte order. The buffer's position does not change.
	 * @param buffer this rank's operand: {@code n} elements, {@code n × type.bytes()}
	 * bytes from position to limit, the same {@code n} on every rank; replaced by the
	 * reduction over all ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 */
	default void allReduce(ByteBuffer buffer, DataType type, ReduceOp op) {
		allReduce(segment(Collective.ALL_REDUCE, "buffer", buffer, type), type, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array of FLOAT32.
	 * @param values this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; replaced by the reduction over all ranks
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 */
	default void allReduce(float[] values, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "values", values), DataType.FLOAT32, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array of FLOAT64.
	 * @param values this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; replaced by the reduction over all ranks
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 */
	default void allReduce(double[] values, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "values", values), DataType.FLOAT64, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array of INT32.
	 * @param values this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; replaced by the reduction over all ranks
	 * @param op any operator; the same on every rank
	 */
	default void allReduce(int[] values, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "values", values), DataType.INT32, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on an array of INT64.
	 * @param values this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; replaced by the reduction over all ranks
	 * @param op any operator; the same on every rank
	 */
	default void allReduce(long[] values, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "values", values), DataType.INT64, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)}, without waiting for the
	 * result.
	 * @param buffer this rank's operand: {@code n} elements, {@code n × type.bytes()}
	 * bytes, the same {@code n} on every rank; replaced by the reduction over all ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @return the work of this call
	 */
	Work<Void> allReduceAsync(MemorySegment buffer, DataType type, ReduceOp op);

	/**
	 * As {@link #allReduce(MemorySegment, DataType, ReduceOp)} on several buffers of one
	 * type, in list order. Small buffers are packed into one call, so that many of them
	 * cost as much as a large one. The result is bit-identical on all ranks and from run
	 * to run, but may differ from separate calls in the last bits.
	 * @param buffers any number without overlap, each of whole elements and replaced by
	 * its reduction over all ranks; the same sizes in the same order on every rank
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 */
	void allReduce(List<MemorySegment> buffers, DataType type, ReduceOp op);

	/**
	 * As {@link #allReduce(List, DataType, ReduceOp)}, without waiting for the result.
	 * @param buffers any number without overlap, each of whole elements and replaced by
	 * its reduction over all ranks; the same sizes in the same order on every rank
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @return the work of this call
	 */
	Work<Void> allReduceAsync(List<MemorySegment> buffers, DataType type, ReduceOp op);

	/**
	 * Reduces the buffers of all ranks, element by element, into every rank's
	 * {@code receive}.
	 * @param send this rank's operand of any number of elements, the same on every rank;
	 * left as it is
	 * @param receive as large as {@code send}; the same segment, or no overlap
	 * @param type element type of the buffers
	 * @param op operator that combines the operands
	 */
	void allReduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * As {@link #allReduce(MemorySegment, MemorySegment, DataType, ReduceOp)} on the
	 * buffers between position and limit, in native byte order. The buffers' positions do
	 * not change.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank; left as it is
	 * @param receive the reduction over all ranks: {@code n} elements,
	 * {@code n × type.bytes()} bytes from position to limit; {@code send} itself, or no
	 * overlap
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 */
	default void allReduce(ByteBuffer send, ByteBuffer receive, DataType type, ReduceOp op) {
		allReduce(segment(Collective.ALL_REDUCE, "send", send, type),
				segment(Collective.ALL_REDUCE, "receive", receive, type), type, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays
	 * of FLOAT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive the reduction over all ranks: {@code n} elements; {@code send}
	 * itself, or no overlap
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 */
	default void allReduce(float[] send, float[] receive, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "send", send), array(Collective.ALL_REDUCE, "receive", receive),
				DataType.FLOAT32, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays
	 * of FLOAT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive the reduction over all ranks: {@code n} elements; {@code send}
	 * itself, or no overlap
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 */
	default void allReduce(double[] send, double[] receive, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "send", send), array(Collective.ALL_REDUCE, "receive", receive),
				DataType.FLOAT64, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays
	 * of INT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive the reduction over all ranks: {@code n} elements; {@code send}
	 * itself, or no overlap
	 * @param op any operator; the same on every rank
	 */
	default void allReduce(int[] send, int[] receive, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "send", send), array(Collective.ALL_REDUCE, "receive", receive),
				DataType.INT32, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays
	 * of INT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive the reduction over all ranks: {@code n} elements; {@code send}
	 * itself, or no overlap
	 * @param op any operator; the same on every rank
	 */
	default void allReduce(long[] send, long[] receive, ReduceOp op) {
		allReduce(array(Collective.ALL_REDUCE, "send", send), array(Collective.ALL_REDUCE, "receive", receive),
				DataType.INT64, op);
	}

	/**
	 * As {@link #allReduce(MemorySegment, MemorySegment, DataType, ReduceOp)}, without
	 * waiting for the result.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()}
	 * bytes, the same {@code n} on every rank; left as it is
	 * @param receive the reduction over all ranks: {@code n} elements,
	 * {@code n × type.bytes()} bytes; {@code send} itself, or no overlap
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @return the work of this call
	 */
	Work<Void> allReduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * Reduces the buffers of all ranks, element by element, into the root's
	 * {@code receive}.
	 * @param send this rank's operand of any number of elements, the same on every rank;
	 * left as it is
	 * @param receive the result, as large as {@code send}; ignored except on the root,
	 * where it may be the same segment as {@code send}
	 * @param type element type of the buffers
	 * @param op operator that combines the operands
	 * @param root the rank that gets the result
	 */
	void reduce(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root);

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on the
	 * buffers between position and limit, in native byte order. The buffers' positions do
	 * not change.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank; left as it is
	 * @param receive on the root the reduction over all ranks: {@code n} elements,
	 * {@code n × type.bytes()} bytes from position to limit; {@code send} itself, or no
	 * overlap; ignored on other ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @param root the rank that gets the result, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void reduce(ByteBuffer send, ByteBuffer receive, DataType type, ReduceOp op, int root) {
		reduce(segment(Collective.REDUCE, "send", send, type),
				onRoot(Collective.REDUCE, "receive", receive, type, root), type, op, root);
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on arrays
	 * of FLOAT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive on the root the reduction over all ranks: {@code n} elements;
	 * {@code send} itself, or no overlap; ignored on other ranks
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 * @param root the rank that gets the result, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void reduce(float[] send, float[] receive, ReduceOp op, int root) {
		reduce(array(Collective.REDUCE, "send", send), onRoot(Collective.REDUCE, "receive", receive, root),
				DataType.FLOAT32, op, root);
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on arrays
	 * of FLOAT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive on the root the reduction over all ranks: {@code n} elements;
	 * {@code send} itself, or no overlap; ignored on other ranks
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 * @param root the rank that gets the result, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void reduce(double[] send, double[] receive, ReduceOp op, int root) {
		reduce(array(Collective.REDUCE, "send", send), onRoot(Collective.REDUCE, "receive", receive, root),
				DataType.FLOAT64, op, root);
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on arrays
	 * of INT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive on the root the reduction over all ranks: {@code n} elements;
	 * {@code send} itself, or no overlap; ignored on other ranks
	 * @param op any operator; the same on every rank
	 * @param root the rank that gets the result, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void reduce(int[] send, int[] receive, ReduceOp op, int root) {
		reduce(array(Collective.REDUCE, "send", send), onRoot(Collective.REDUCE, "receive", receive, root),
				DataType.INT32, op, root);
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)} on arrays
	 * of INT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank; left as it is
	 * @param receive on the root the reduction over all ranks: {@code n} elements;
	 * {@code send} itself, or no overlap; ignored on other ranks
	 * @param op any operator; the same on every rank
	 * @param root the rank that gets the result, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void reduce(long[] send, long[] receive, ReduceOp op, int root) {
		reduce(array(Collective.REDUCE, "send", send), onRoot(Collective.REDUCE, "receive", receive, root),
				DataType.INT64, op, root);
	}

	/**
	 * As {@link #reduce(MemorySegment, MemorySegment, DataType, ReduceOp, int)}, without
	 * waiting for the result.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()}
	 * bytes, the same {@code n} on every rank; left as it is
	 * @param receive on the root the reduction over all ranks: {@code n} elements,
	 * {@code n × type.bytes()} bytes; {@code send} itself, or no overlap; ignored on
	 * other ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @param root the rank that gets the result, in {@code 0..worldSize-1}; the same on
	 * every rank
	 * @return the work of this call
	 */
	Work<Void> reduceAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op, int root);

	/**
	 * Copies the root's buffer to every rank.
	 * @param buffer any number of elements, the same on every rank; read on the root,
	 * where it may be read-only, replaced on the others
	 * @param type element type of the buffers
	 * @param root the rank to copy from
	 */
	void broadcast(MemorySegment buffer, DataType type, int root);

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)} on the buffer between position
	 * and limit, in native byte order. The buffer's position does not change.
	 * @param buffer {@code n} elements, {@code n × type.bytes()} bytes from position to
	 * limit, the same {@code n} on every rank; read on the root, replaced by its content
	 * on the other ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 */
	default void broadcast(ByteBuffer buffer, DataType type, int root) {
		broadcast(segment(Collective.BROADCAST, "buffer", buffer, type), type, root);
	}

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)} on an array of FLOAT32.
	 * @param values {@code n} elements, the same {@code n} on every rank; read on the
	 * root, replaced by its content on the other ranks
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 */
	default void broadcast(float[] values, int root) {
		broadcast(array(Collective.BROADCAST, "values", values), DataType.FLOAT32, root);
	}

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)} on an array of FLOAT64.
	 * @param values {@code n} elements, the same {@code n} on every rank; read on the
	 * root, replaced by its content on the other ranks
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 */
	default void broadcast(double[] values, int root) {
		broadcast(array(Collective.BROADCAST, "values", values), DataType.FLOAT64, root);
	}

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)} on an array of INT32.
	 * @param values {@code n} elements, the same {@code n} on every rank; read on the
	 * root, replaced by its content on the other ranks
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 */
	default void broadcast(int[] values, int root) {
		broadcast(array(Collective.BROADCAST, "values", values), DataType.INT32, root);
	}

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)} on an array of INT64.
	 * @param values {@code n} elements, the same {@code n} on every rank; read on the
	 * root, replaced by its content on the other ranks
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 */
	default void broadcast(long[] values, int root) {
		broadcast(array(Collective.BROADCAST, "values", values), DataType.INT64, root);
	}

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)}, without waiting for the
	 * result.
	 * @param buffer {@code n} elements, {@code n × type.bytes()} bytes, the same
	 * {@code n} on every rank; read on the root, replaced by its content on the other
	 * ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 * @return the work of this call
	 */
	Work<Void> broadcastAsync(MemorySegment buffer, DataType type, int root);

	/**
	 * As {@link #broadcast(MemorySegment, DataType, int)} on several buffers of one type,
	 * in list order. Small buffers are packed into one call, so that many of them cost as
	 * much as a large one.
	 * @param buffers any number, each of whole elements and replaced by the root's
	 * content; the same sizes in the same order on every rank. If some overlap, they must
	 * overlap in the same way on every rank
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 */
	void broadcast(List<MemorySegment> buffers, DataType type, int root);

	/**
	 * As {@link #broadcast(List, DataType, int)}, without waiting for the result.
	 * @param buffers any number, each of whole elements and replaced by the root's
	 * content; the same sizes in the same order on every rank. If some overlap, they must
	 * overlap in the same way on every rank
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank whose content all ranks get, in {@code 0..worldSize-1}; the
	 * same on every rank
	 * @return the work of this call
	 */
	Work<Void> broadcastAsync(List<MemorySegment> buffers, DataType type, int root);

	/**
	 * Gives every rank the parts of all ranks, in rank order. In place if {@code send} is
	 * this rank's part of {@code receive}; otherwise the buffers must not overlap.
	 * @param send this rank's part of {@code n} elements, the same on every rank
	 * @param receive {@code n × worldSize} elements
	 * @param type element type of the buffers
	 */
	void allGather(MemorySegment send, MemorySegment receive, DataType type);

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on the buffers
	 * between position and limit, in native byte order. The buffers' positions do not
	 * change.
	 * @param send this rank's part: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank
	 * @param receive the parts of all ranks, that of rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes from position to limit; {@code send} may be this rank's part of it
	 * @param type element type of the buffers, the same on every rank
	 */
	default void allGather(ByteBuffer send, ByteBuffer receive, DataType type) {
		allGather(segment(Collective.ALL_GATHER, "send", send, type),
				segment(Collective.ALL_GATHER, "receive", receive, type), type);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays of FLOAT32.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive the parts of all ranks, that of rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 */
	default void allGather(float[] send, float[] receive) {
		allGather(array(Collective.ALL_GATHER, "send", send), array(Collective.ALL_GATHER, "receive", receive),
				DataType.FLOAT32);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays of FLOAT64.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive the parts of all ranks, that of rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 */
	default void allGather(double[] send, double[] receive) {
		allGather(array(Collective.ALL_GATHER, "send", send), array(Collective.ALL_GATHER, "receive", receive),
				DataType.FLOAT64);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays of INT32.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive the parts of all ranks, that of rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 */
	default void allGather(int[] send, int[] receive) {
		allGather(array(Collective.ALL_GATHER, "send", send), array(Collective.ALL_GATHER, "receive", receive),
				DataType.INT32);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)} on arrays of INT64.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive the parts of all ranks, that of rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 */
	default void allGather(long[] send, long[] receive) {
		allGather(array(Collective.ALL_GATHER, "send", send), array(Collective.ALL_GATHER, "receive", receive),
				DataType.INT64);
	}

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, DataType)}, without waiting for
	 * the result.
	 * @param send this rank's part: {@code n} elements, {@code n × type.bytes()} bytes,
	 * the same {@code n} on every rank
	 * @param receive the parts of all ranks, that of rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes; {@code send} may be this rank's part of it
	 * @param type element type of the buffers, the same on every rank
	 * @return the work of this call
	 */
	Work<Void> allGatherAsync(MemorySegment send, MemorySegment receive, DataType type);

	/**
	 * Gives every rank the parts of all ranks, in rank order. The sizes of the parts may
	 * differ.
	 * @param send this rank's part: {@code counts[rank]} elements
	 * @param receive the sum of the counts in elements; {@code send} may be this rank's
	 * part of it, otherwise no overlap
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 * @param type element type of the buffers
	 */
	void allGather(MemorySegment send, MemorySegment receive, long[] counts, DataType type);

	/**
	 * As {@link #allGather(MemorySegment, MemorySegment, long[], DataType)}, without
	 * waiting for the result. The counts are copied.
	 * @param send this rank's part: {@code counts[rank]} elements
	 * @param receive the parts of all ranks in rank order: the sum of the counts in
	 * elements; {@code send} may be this rank's part of it
	 * @param counts elements of each rank's part, by rank; 0 or more, the same on every
	 * rank
	 * @param type element type of the buffers, the same on every rank
	 * @return the work of this call
	 */
	Work<Void> allGatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type);

	/**
	 * Reduces the buffers of all ranks, element by element, and gives each rank its own
	 * part of the result, in rank order. In place if {@code receive} is this rank's part
	 * of {@code send}, whose other parts are then undefined; otherwise the buffers must
	 * not overlap and {@code send} is left as it is.
	 * @param send this rank's operand of {@code n × worldSize} elements
	 * @param receive this rank's part of the result: {@code n} elements, the same on
	 * every rank
	 * @param type element type of the buffers
	 * @param op operator that combines the operands
	 */
	void reduceScatter(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on the
	 * buffers between position and limit, in native byte order. The buffers' positions do
	 * not change.
	 * @param send this rank's operand, its part for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes from position to limit
	 * @param receive this rank's part of the reduction: {@code n} elements,
	 * {@code n × type.bytes()} bytes from position to limit, the same {@code n} on every
	 * rank; may be this rank's part of {@code send}
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 */
	default void reduceScatter(ByteBuffer send, ByteBuffer receive, DataType type, ReduceOp op) {
		reduceScatter(segment(Collective.REDUCE_SCATTER, "send", send, type),
				segment(Collective.REDUCE_SCATTER, "receive", receive, type), type, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of FLOAT32.
	 * @param send this rank's operand, its part for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 * @param receive this rank's part of the reduction: {@code n} elements, the same
	 * {@code n} on every rank
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 */
	default void reduceScatter(float[] send, float[] receive, ReduceOp op) {
		reduceScatter(array(Collective.REDUCE_SCATTER, "send", send),
				array(Collective.REDUCE_SCATTER, "receive", receive), DataType.FLOAT32, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of FLOAT64.
	 * @param send this rank's operand, its part for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 * @param receive this rank's part of the reduction: {@code n} elements, the same
	 * {@code n} on every rank
	 * @param op any operator except the bitwise and logical ones; the same on every rank
	 */
	default void reduceScatter(double[] send, double[] receive, ReduceOp op) {
		reduceScatter(array(Collective.REDUCE_SCATTER, "send", send),
				array(Collective.REDUCE_SCATTER, "receive", receive), DataType.FLOAT64, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of INT32.
	 * @param send this rank's operand, its part for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 * @param receive this rank's part of the reduction: {@code n} elements, the same
	 * {@code n} on every rank
	 * @param op any operator; the same on every rank
	 */
	default void reduceScatter(int[] send, int[] receive, ReduceOp op) {
		reduceScatter(array(Collective.REDUCE_SCATTER, "send", send),
				array(Collective.REDUCE_SCATTER, "receive", receive), DataType.INT32, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of INT64.
	 * @param send this rank's operand, its part for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements
	 * @param receive this rank's part of the reduction: {@code n} elements, the same
	 * {@code n} on every rank
	 * @param op any operator; the same on every rank
	 */
	default void reduceScatter(long[] send, long[] receive, ReduceOp op) {
		reduceScatter(array(Collective.REDUCE_SCATTER, "send", send),
				array(Collective.REDUCE_SCATTER, "receive", receive), DataType.INT64, op);
	}

	/**
	 * As {@link #reduceScatter(MemorySegment, MemorySegment, DataType, ReduceOp)},
	 * without waiting for the result.
	 * @param send this rank's operand, its part for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes
	 * @param receive this rank's part of the reduction: {@code n} elements,
	 * {@code n × type.bytes()} bytes, the same {@code n} on every rank; may be this
	 * rank's part of {@code send}
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @return the work of this call
	 */
	Work<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * Reduces the buffers of all ranks, element by element, and gives each rank its own
	 * part of the result, in rank order. The sizes of the parts may differ.
	 * @param send this rank's operand: the sum of the counts in elements
	 * @param receive this rank's part of the result: {@code counts[rank]} elements; may
	 * be this rank's part of {@code send}, whose other parts are then undefined,
	 * otherwise no overlap
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 * @param type element type of the buffers
	 * @param op operator that combines the operands
	 */
	void reduceScatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op);

	/**
	 * As
	 * {@link #reduceScatter(MemorySegment, MemorySegment, long[], DataType, ReduceOp)},
	 * without waiting for the result. The counts are copied.
	 * @param send this rank's operand: the sum of the counts in elements
	 * @param receive this rank's part of the reduction: {@code counts[rank]} elements;
	 * may be this rank's part of {@code send}
	 * @param counts elements of each rank's part, by rank; 0 or more, the same on every
	 * rank
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator; the bitwise and logical ones need an integer type; the same
	 * on every rank
	 * @return the work of this call
	 */
	Work<Void> reduceScatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, ReduceOp op);

	/**
	 * Gives the root the parts of all ranks, in rank order. In place on the root if its
	 * {@code send} is its part of {@code receive}; otherwise the buffers must not
	 * overlap.
	 * @param send this rank's part of {@code n} elements, the same on every rank
	 * @param receive {@code n × worldSize} elements; ignored except on the root
	 * @param type element type of the buffers
	 * @param root the rank that gets the parts
	 */
	void gather(MemorySegment send, MemorySegment receive, DataType type, int root);

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on the buffers
	 * between position and limit, in native byte order. The buffers' positions do not
	 * change.
	 * @param send this rank's part: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank
	 * @param receive on the root the parts of all ranks, that of rank {@code r} from
	 * element {@code r × n}: {@code n × worldSize} elements,
	 * {@code n × worldSize × type.bytes()} bytes from position to limit; ignored on other
	 * ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void gather(ByteBuffer send, ByteBuffer receive, DataType type, int root) {
		gather(segment(Collective.GATHER, "send", send, type),
				onRoot(Collective.GATHER, "receive", receive, type, root), type, root);
	}

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on arrays of
	 * FLOAT32.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive on the root the parts of all ranks, that of rank {@code r} from
	 * element {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void gather(float[] send, float[] receive, int root) {
		gather(array(Collective.GATHER, "send", send), onRoot(Collective.GATHER, "receive", receive, root),
				DataType.FLOAT32, root);
	}

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on arrays of
	 * FLOAT64.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive on the root the parts of all ranks, that of rank {@code r} from
	 * element {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void gather(double[] send, double[] receive, int root) {
		gather(array(Collective.GATHER, "send", send), onRoot(Collective.GATHER, "receive", receive, root),
				DataType.FLOAT64, root);
	}

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on arrays of INT32.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive on the root the parts of all ranks, that of rank {@code r} from
	 * element {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void gather(int[] send, int[] receive, int root) {
		gather(array(Collective.GATHER, "send", send), onRoot(Collective.GATHER, "receive", receive, root),
				DataType.INT32, root);
	}

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)} on arrays of INT64.
	 * @param send this rank's part: {@code n} elements, the same {@code n} on every rank
	 * @param receive on the root the parts of all ranks, that of rank {@code r} from
	 * element {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void gather(long[] send, long[] receive, int root) {
		gather(array(Collective.GATHER, "send", send), onRoot(Collective.GATHER, "receive", receive, root),
				DataType.INT64, root);
	}

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, DataType, int)}, without waiting
	 * for the result.
	 * @param send this rank's part: {@code n} elements, {@code n × type.bytes()} bytes,
	 * the same {@code n} on every rank
	 * @param receive on the root the parts of all ranks, that of rank {@code r} from
	 * element {@code r × n}: {@code n × worldSize} elements,
	 * {@code n × worldSize × type.bytes()} bytes; ignored on other ranks
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 * @return the work of this call
	 */
	Work<Void> gatherAsync(MemorySegment send, MemorySegment receive, DataType type, int root);

	/**
	 * Gives the root the parts of all ranks, in rank order. The sizes of the parts may
	 * differ.
	 * @param send this rank's part: {@code counts[rank]} elements
	 * @param receive the sum of the counts in elements; ignored except on the root
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 * @param type element type of the buffers
	 * @param root the rank that gets the parts
	 */
	void gather(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root);

	/**
	 * As {@link #gather(MemorySegment, MemorySegment, long[], DataType, int)}, without
	 * waiting for the result. The counts are copied.
	 * @param send this rank's part: {@code counts[rank]} elements
	 * @param receive on the root the parts of all ranks in rank order: the sum of the
	 * counts in elements; ignored on other ranks
	 * @param counts elements of each rank's part, by rank; 0 or more, the same on every
	 * rank
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank that gets the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 * @return the work of this call
	 */
	Work<Void> gatherAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root);

	/**
	 * Gives each rank its own part of the root's buffer, in rank order. In place on the
	 * root if its {@code receive} is its part of {@code send}; otherwise the buffers must
	 * not overlap.
	 * @param send {@code n × worldSize} elements; ignored except on the root
	 * @param receive this rank's part of {@code n} elements, the same on every rank
	 * @param type element type of the buffers
	 * @param root the rank that sends the parts
	 */
	void scatter(MemorySegment send, MemorySegment receive, DataType type, int root);

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on the buffers
	 * between position and limit, in native byte order. The buffers' positions do not
	 * change.
	 * @param send on the root a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes from position to limit; ignored on other ranks
	 * @param receive this rank's part: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void scatter(ByteBuffer send, ByteBuffer receive, DataType type, int root) {
		scatter(onRoot(Collective.SCATTER, "send", send, type, root),
				segment(Collective.SCATTER, "receive", receive, type), type, root);
	}

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on arrays of
	 * FLOAT32.
	 * @param send on the root a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param receive this rank's part: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void scatter(float[] send, float[] receive, int root) {
		scatter(onRoot(Collective.SCATTER, "send", send, root), array(Collective.SCATTER, "receive", receive),
				DataType.FLOAT32, root);
	}

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on arrays of
	 * FLOAT64.
	 * @param send on the root a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param receive this rank's part: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void scatter(double[] send, double[] receive, int root) {
		scatter(onRoot(Collective.SCATTER, "send", send, root), array(Collective.SCATTER, "receive", receive),
				DataType.FLOAT64, root);
	}

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on arrays of
	 * INT32.
	 * @param send on the root a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param receive this rank's part: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void scatter(int[] send, int[] receive, int root) {
		scatter(onRoot(Collective.SCATTER, "send", send, root), array(Collective.SCATTER, "receive", receive),
				DataType.INT32, root);
	}

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)} on arrays of
	 * INT64.
	 * @param send on the root a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; ignored on other ranks
	 * @param receive this rank's part: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 */
	default void scatter(long[] send, long[] receive, int root) {
		scatter(onRoot(Collective.SCATTER, "send", send, root), array(Collective.SCATTER, "receive", receive),
				DataType.INT64, root);
	}

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, DataType, int)}, without waiting
	 * for the result.
	 * @param send on the root a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes; ignored on other ranks
	 * @param receive this rank's part: {@code n} elements, {@code n × type.bytes()}
	 * bytes, the same {@code n} on every rank
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 * @return the work of this call
	 */
	Work<Void> scatterAsync(MemorySegment send, MemorySegment receive, DataType type, int root);

	/**
	 * Gives each rank its own part of the root's buffer, in rank order. The sizes of the
	 * parts may differ.
	 * @param send the sum of the counts in elements; ignored except on the root
	 * @param receive this rank's part: {@code counts[rank]} elements
	 * @param counts elements of each rank's part, by rank; the same on every rank
	 * @param type element type of the buffers
	 * @param root the rank that sends the parts
	 */
	void scatter(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root);

	/**
	 * As {@link #scatter(MemorySegment, MemorySegment, long[], DataType, int)}, without
	 * waiting for the result. The counts are copied.
	 * @param send on the root a part for each rank in rank order: the sum of the counts
	 * in elements; ignored on other ranks
	 * @param receive this rank's part: {@code counts[rank]} elements
	 * @param counts elements of each rank's part, by rank; 0 or more, the same on every
	 * rank
	 * @param type element type of the buffers, the same on every rank
	 * @param root the rank that sends the parts, in {@code 0..worldSize-1}; the same on
	 * every rank
	 * @return the work of this call
	 */
	Work<Void> scatterAsync(MemorySegment send, MemorySegment receive, long[] counts, DataType type, int root);

	/**
	 * Gives each rank one part from every rank, in rank order.
	 * @param send a part of {@code n} elements for each rank; the same size on every rank
	 * @param receive a part of {@code n} elements from each rank; must not overlap
	 * {@code send}
	 * @param type element type of the buffers
	 */
	void allToAll(MemorySegment send, MemorySegment receive, DataType type);

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on the buffers between
	 * position and limit, in native byte order. The buffers' positions do not change.
	 * @param send a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes from position to limit, the same {@code n} on every rank
	 * @param receive a part from each rank, that from rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes from position to limit; must not overlap {@code send}
	 * @param type element type of the buffers, the same on every rank
	 */
	default void allToAll(ByteBuffer send, ByteBuffer receive, DataType type) {
		allToAll(segment(Collective.ALL_TO_ALL, "send", send, type),
				segment(Collective.ALL_TO_ALL, "receive", receive, type), type);
	}

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on arrays of FLOAT32.
	 * @param send a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, the same {@code n} on every rank
	 * @param receive a part from each rank, that from rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; must not overlap {@code send}
	 */
	default void allToAll(float[] send, float[] receive) {
		allToAll(array(Collective.ALL_TO_ALL, "send", send), array(Collective.ALL_TO_ALL, "receive", receive),
				DataType.FLOAT32);
	}

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on arrays of FLOAT64.
	 * @param send a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, the same {@code n} on every rank
	 * @param receive a part from each rank, that from rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; must not overlap {@code send}
	 */
	default void allToAll(double[] send, double[] receive) {
		allToAll(array(Collective.ALL_TO_ALL, "send", send), array(Collective.ALL_TO_ALL, "receive", receive),
				DataType.FLOAT64);
	}

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on arrays of INT32.
	 * @param send a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, the same {@code n} on every rank
	 * @param receive a part from each rank, that from rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; must not overlap {@code send}
	 */
	default void allToAll(int[] send, int[] receive) {
		allToAll(array(Collective.ALL_TO_ALL, "send", send), array(Collective.ALL_TO_ALL, "receive", receive),
				DataType.INT32);
	}

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)} on arrays of INT64.
	 * @param send a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, the same {@code n} on every rank
	 * @param receive a part from each rank, that from rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements; must not overlap {@code send}
	 */
	default void allToAll(long[] send, long[] receive) {
		allToAll(array(Collective.ALL_TO_ALL, "send", send), array(Collective.ALL_TO_ALL, "receive", receive),
				DataType.INT64);
	}

	/**
	 * As {@link #allToAll(MemorySegment, MemorySegment, DataType)}, without waiting for
	 * the result.
	 * @param send a part for each rank, that for rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes, the same {@code n} on every rank
	 * @param receive a part from each rank, that from rank {@code r} from element
	 * {@code r × n}: {@code n × worldSize} elements, {@code n × worldSize × type.bytes()}
	 * bytes; must not overlap {@code send}
	 * @param type element type of the buffers, the same on every rank
	 * @return the work of this call
	 */
	Work<Void> allToAllAsync(MemorySegment send, MemorySegment receive, DataType type);

	/**
	 * Gives each rank one part from every rank, in rank order. The sizes of the parts may
	 * differ. The count that a rank sends to a peer must equal the count that the peer
	 * receives from it.
	 * @param send the parts for each rank: the sum of {@code sendCounts} in elements
	 * @param sendCounts elements for each rank, by rank
	 * @param receive the parts from each rank: the sum of {@code receiveCounts} in
	 * elements; must not overlap {@code send}
	 * @param receiveCounts elements from each rank, by rank
	 * @param type element type of the buffers
	 */
	void allToAll(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts, DataType type);

	/**
	 * As {@link #allToAll(MemorySegment, long[], MemorySegment, long[], DataType)},
	 * without waiting for the result. The counts are copied.
	 * @param send the parts for each rank in rank order: the sum of {@code sendCounts} in
	 * elements
	 * @param sendCounts elements for each rank, by rank; 0 or more
	 * @param receive the parts from each rank in rank order: the sum of
	 * {@code receiveCounts} in elements; must not overlap {@code send}
	 * @param receiveCounts elements from each rank, by rank; each as the peer sends
	 * @param type element type of the buffers, the same on every rank
	 * @return the work of this call
	 */
	Work<Void> allToAllAsync(MemorySegment send, long[] sendCounts, MemorySegment receive, long[] receiveCounts,
			DataType type);

	/**
	 * Inclusive prefix reduction: rank {@code r} gets the reduction of the buffers of
	 * ranks {@code 0..r}, element by element, combined in rank order.
	 * @param send this rank's operand of any number of elements, the same on every rank;
	 * left as it is
	 * @param receive as large as {@code send}; the same segment, or no overlap
	 * @param type element type of the buffers
	 * @param op any operator except {@link ReduceOp#AVERAGE}
	 */
	void scan(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * As {@link #scan(MemorySegment, MemorySegment, DataType, ReduceOp)} on the buffers
	 * between position and limit, in native byte order. The buffers' positions do not
	 * change.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank
	 * @param receive the reduction over the ranks 0 to this one: {@code n} elements,
	 * {@code n × type.bytes()} bytes from position to limit; {@code send} itself, or no
	 * overlap
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the bitwise and logical
	 * ones need an integer type; the same on every rank
	 */
	default void scan(ByteBuffer send, ByteBuffer receive, DataType type, ReduceOp op) {
		scan(segment(Collective.SCAN, "send", send, type), segment(Collective.SCAN, "receive", receive, type), type,
				op);
	}

	/**
	 * As {@link #scan(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays of
	 * FLOAT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks 0 to this one: {@code n} elements;
	 * {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE} and the bitwise and logical
	 * ones; the same on every rank
	 */
	default void scan(float[] send, float[] receive, ReduceOp op) {
		scan(array(Collective.SCAN, "send", send), array(Collective.SCAN, "receive", receive), DataType.FLOAT32, op);
	}

	/**
	 * As {@link #scan(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays of
	 * FLOAT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks 0 to this one: {@code n} elements;
	 * {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE} and the bitwise and logical
	 * ones; the same on every rank
	 */
	default void scan(double[] send, double[] receive, ReduceOp op) {
		scan(array(Collective.SCAN, "send", send), array(Collective.SCAN, "receive", receive), DataType.FLOAT64, op);
	}

	/**
	 * As {@link #scan(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays of
	 * INT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks 0 to this one: {@code n} elements;
	 * {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the same on every rank
	 */
	default void scan(int[] send, int[] receive, ReduceOp op) {
		scan(array(Collective.SCAN, "send", send), array(Collective.SCAN, "receive", receive), DataType.INT32, op);
	}

	/**
	 * As {@link #scan(MemorySegment, MemorySegment, DataType, ReduceOp)} on arrays of
	 * INT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks 0 to this one: {@code n} elements;
	 * {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the same on every rank
	 */
	default void scan(long[] send, long[] receive, ReduceOp op) {
		scan(array(Collective.SCAN, "send", send), array(Collective.SCAN, "receive", receive), DataType.INT64, op);
	}

	/**
	 * As {@link #scan(MemorySegment, MemorySegment, DataType, ReduceOp)}, without waiting
	 * for the result.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()}
	 * bytes, the same {@code n} on every rank
	 * @param receive the reduction over the ranks 0 to this one: {@code n} elements,
	 * {@code n × type.bytes()} bytes; {@code send} itself, or no overlap
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the bitwise and logical
	 * ones need an integer type; the same on every rank
	 * @return the work of this call
	 */
	Work<Void> scanAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * Exclusive prefix reduction: rank {@code r} gets the reduction of the buffers of
	 * ranks {@code 0..r-1}, element by element, combined in rank order. Rank 0's
	 * {@code receive} is left as it is.
	 * @param send this rank's operand of any number of elements, the same on every rank;
	 * left as it is
	 * @param receive as large as {@code send}; the same segment, or no overlap
	 * @param type element type of the buffers
	 * @param op any operator except {@link ReduceOp#AVERAGE}
	 */
	void exclusiveScan(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/**
	 * As {@link #exclusiveScan(MemorySegment, MemorySegment, DataType, ReduceOp)} on the
	 * buffers between position and limit, in native byte order. The buffers' positions do
	 * not change.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()} bytes
	 * from position to limit, the same {@code n} on every rank
	 * @param receive the reduction over the ranks before this one, left as it is on rank
	 * 0: {@code n} elements, {@code n × type.bytes()} bytes from position to limit;
	 * {@code send} itself, or no overlap
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the bitwise and logical
	 * ones need an integer type; the same on every rank
	 */
	default void exclusiveScan(ByteBuffer send, ByteBuffer receive, DataType type, ReduceOp op) {
		exclusiveScan(segment(Collective.EXCLUSIVE_SCAN, "send", send, type),
				segment(Collective.EXCLUSIVE_SCAN, "receive", receive, type), type, op);
	}

	/**
	 * As {@link #exclusiveScan(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of FLOAT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks before this one, left as it is on rank
	 * 0: {@code n} elements; {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE} and the bitwise and logical
	 * ones; the same on every rank
	 */
	default void exclusiveScan(float[] send, float[] receive, ReduceOp op) {
		exclusiveScan(array(Collective.EXCLUSIVE_SCAN, "send", send),
				array(Collective.EXCLUSIVE_SCAN, "receive", receive), DataType.FLOAT32, op);
	}

	/**
	 * As {@link #exclusiveScan(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of FLOAT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks before this one, left as it is on rank
	 * 0: {@code n} elements; {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE} and the bitwise and logical
	 * ones; the same on every rank
	 */
	default void exclusiveScan(double[] send, double[] receive, ReduceOp op) {
		exclusiveScan(array(Collective.EXCLUSIVE_SCAN, "send", send),
				array(Collective.EXCLUSIVE_SCAN, "receive", receive), DataType.FLOAT64, op);
	}

	/**
	 * As {@link #exclusiveScan(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of INT32.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks before this one, left as it is on rank
	 * 0: {@code n} elements; {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the same on every rank
	 */
	default void exclusiveScan(int[] send, int[] receive, ReduceOp op) {
		exclusiveScan(array(Collective.EXCLUSIVE_SCAN, "send", send),
				array(Collective.EXCLUSIVE_SCAN, "receive", receive), DataType.INT32, op);
	}

	/**
	 * As {@link #exclusiveScan(MemorySegment, MemorySegment, DataType, ReduceOp)} on
	 * arrays of INT64.
	 * @param send this rank's operand: {@code n} elements, the same {@code n} on every
	 * rank
	 * @param receive the reduction over the ranks before this one, left as it is on rank
	 * 0: {@code n} elements; {@code send} itself, or no overlap
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the same on every rank
	 */
	default void exclusiveScan(long[] send, long[] receive, ReduceOp op) {
		exclusiveScan(array(Collective.EXCLUSIVE_SCAN, "send", send),
				array(Collective.EXCLUSIVE_SCAN, "receive", receive), DataType.INT64, op);
	}

	/**
	 * As {@link #exclusiveScan(MemorySegment, MemorySegment, DataType, ReduceOp)},
	 * without waiting for the result.
	 * @param send this rank's operand: {@code n} elements, {@code n × type.bytes()}
	 * bytes, the same {@code n} on every rank
	 * @param receive the reduction over the ranks before this one, left as it is on rank
	 * 0: {@code n} elements, {@code n × type.bytes()} bytes; {@code send} itself, or no
	 * overlap
	 * @param type element type of the buffers, the same on every rank
	 * @param op any operator except {@link ReduceOp#AVERAGE}; the bitwise and logical
	 * ones need an integer type; the same on every rank
	 * @return the work of this call
	 */
	Work<Void> exclusiveScanAsync(MemorySegment send, MemorySegment receive, DataType type, ReduceOp op);

	/** Returns when every rank has called it. */
	void barrier();

	/**
	 * As {@link #barrier()}, without waiting for the other ranks.
	 * @return the work of this call
	 */
	Work<Void> barrierAsync();

	/**
	 * Allocates a buffer. In a group whose ranks all share the memory of one host, calls
	 * on it are fastest: the ranks map each other's buffers, so no staging copy is
	 * needed. Calls may use any part of the buffer, provided that every rank's buffer
	 * comes from this method. In any other group it is ordinary native memory.
	 * Collective, but not asynchronous.
	 * @param bytes at least 0; the same on every rank
	 * @return a zeroed buffer of that size, accessible from any thread until it is freed
	 * or the group is closed
	 * @throws IllegalArgumentException on every rank, if the sizes differ; the group
	 * stays usable
	 * @throws OutOfMemoryError on every rank, if one of them has no memory for its
	 * buffer, or if they all share a host that has less memory available than their
	 * buffers need; no rank keeps a buffer, and the group stays usable
	 */
	MemorySegment allocate(long bytes);

	/**
	 * Frees a buffer of {@link #allocate} before the group is closed. Collective: every
	 * rank frees the buffer that it got from the same call. No call uses it any more, on
	 * any rank: one that does may end the process of another rank, which has unmapped it.
	 * A receive that has matched no message yet fails alone when its message arrives,
	 * which is dropped; any other message that still uses it breaks the group, so wait
	 * for its work before.
	 * @param buffer the whole buffer, as {@code allocate} returned it
	 * @throws IllegalArgumentException if it is not a buffer of this group, or is freed
	 * already
	 * @throws IllegalStateException if a collective of this rank still uses it; it is no
	 * buffer of the group any more, and its memory is released by a later
	 * {@code allocate} or {@code free}, or when the group is closed
	 */
	void free(MemorySegment buffer);

	/**
	 * Sends a message to one rank, outside the order of collectives. A message of up to
	 * 64 KiB (eager protocol) need not have arrived when this returns; a larger one
	 * (rendezvous protocol) waits until the peer receives it. One of up to 128 KiB may be
	 * sent by either protocol over TCP, and between up to 4 ranks that share the cores of
	 * one host. If the time limit passes before the peer has matched it, the send fails
	 * alone with a {@link CollectiveTimeoutException} and the group stays usable;
	 * afterwards, or if the peer does not answer within two seconds whether it has, the
	 * group breaks. A message sent eagerly whose bytes have begun to move is copied then,
	 * and the send returns. An MPI library limits the tags of all messages
	 * ({@code mpi.md}).
	 * @param buffer the message: whole elements, or none
	 * @param type element type of the message
	 * @param peer the rank to send to; may be this one
	 * @param tag the tag that the receive must match, 0 or more
	 */
	void send(MemorySegment buffer, DataType type, int peer, int tag);

	/**
	 * As {@link #send(MemorySegment, DataType, int, int)}, without waiting.
	 * @param buffer the message: {@code n} elements, {@code n × type.bytes()} bytes, or
	 * none; unchanged until the work is done
	 * @param type element type of the message
	 * @param peer the rank to send to; may be this one
	 * @param tag the tag that the receive must match, 0 or more
	 * @return the work of this call
	 */
	Work<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag);

	/**
	 * Receives a rank's first message with this tag that no earlier receive matches. If
	 * the time limit passes before a message has matched, the receive fails alone with a
	 * {@link CollectiveTimeoutException} and the group stays usable; afterwards, the
	 * group breaks.
	 * @param buffer receives the message; may be larger than it
	 * @param type element type of the message
	 * @param peer the rank that sends; may be this one
	 * @param tag the tag it sends with, 0 or more
	 * @return the number of elements received
	 * @throws MessageMismatchException if the message is larger than the buffer or of
	 * another type, also if it is empty; the message is dropped and the group stays
	 * usable
	 */
	long receive(MemorySegment buffer, DataType type, int peer, int tag);

	/**
	 * As {@link #receive(MemorySegment, DataType, int, int)} from a rank or
	 * {@link Message#ANY_SOURCE}, with a tag or {@link Message#ANY_TAG}.
	 * @param buffer receives the message, from the start; whole elements, at least as
	 * many as the message has
	 * @param type element type of the message
	 * @param source rank to receive from, or {@link Message#ANY_SOURCE}
	 * @param tag tag of the message, 0 or more, or {@link Message#ANY_TAG}
	 * @return source, tag and number of elements of the message
	 */
	Message receiveAny(MemorySegment buffer, DataType type, int source, int tag);

	/**
	 * As {@link #receiveAny(MemorySegment, DataType, int, int)}, without waiting.
	 * @param buffer receives the message, from the start; whole elements, at least as
	 * many as the message has
	 * @param type element type of the message
	 * @param source rank to receive from, or {@link Message#ANY_SOURCE}
	 * @param tag tag of the message, 0 or more, or {@link Message#ANY_TAG}
	 * @return the work of this call
	 */
	Work<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag);

	/**
	 * Waits for a message without receiving it. The next matching receive on this rank
	 * receives it, unless its sender withdraws it before.
	 * @param source a rank or {@link Message#ANY_SOURCE}
	 * @param tag a tag or {@link Message#ANY_TAG}
	 * @return its source, its tag and its number of elements of the sender's type, which
	 * the receive must pass
	 * @throws CollectiveTimeoutException if none arrives within the time limit; the group
	 * stays usable
	 */
	Message probe(int source, int tag);

	/**
	 * As {@link #probe}, without waiting.
	 * @param source a rank or {@link Message#ANY_SOURCE}
	 * @param tag a tag or {@link Message#ANY_TAG}
	 * @return source, tag and number of elements of the message, {@code null} if no
	 * message matches
	 */
	@Nullable Message tryProbe(int source, int tag);

	/**
	 * Sends one message and receives another at the same time. A passed time limit breaks
	 * the group.
	 * @param send the message to send: whole elements, or none
	 * @param peer the rank to send to
	 * @param receive receives the other message, from the start; may be larger than it,
	 * must not overlap {@code send}
	 * @param source the rank to receive from
	 * @param type element type of both messages
	 * @param tag tag of the message, 0 or more
	 * @return the number of elements received
	 */
	long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag);

	/**
	 * Starts several sends and receives at once. Receives are posted first, so that the
	 * order in the list does not matter between ranks; among receives, and among sends to
	 * one peer, the order of the list counts.
	 * @param transfers sends and receives to start
	 * @return the work of each transfer, in list order; that of a send completes with the
	 * peer in place of the source
	 */
	List<Work<Message>> startAll(List<Transfer> transfers);

	/**
	 * Creates subgroups of this group: ranks with the same colour form a group, ordered
	 * by key and, for equal keys, by their rank in this group. Collective. The new group
	 * has its own connections, is independent of this one, and outlives it; the caller
	 * closes it. It breaks with its parent only if that is the group of all ranks and a
	 * rank is lost or the failure is of kind {@link Failure.Kind#ABORTED}. Closing a
	 * group from {@code fromEnvironment} leaves the job and closes all its subgroups.
	 * @param color the group to join; negative for none
	 * @param key position of this rank among those of its colour
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
	 * for rank 0's verdict for at most the abort timeout. Has no effect on a group that
	 * this rank has closed. Every rank that ends with this failure has exit code
	 * {@link ExitCode#ABORTED}, after which launchers restart nothing. An abort of the
	 * group of all ranks breaks every other group of the job too, as does any other
	 * failure of kind {@link Failure.Kind#ABORTED} of it, such as an interrupted call.
	 * @param reason reason that every rank reports
	 */
	default void abort(String reason) {
		abort(ExitCode.ABORTED, reason);
	}

	/**
	 * Breaks the group as {@link #abort(String)} does, with another exit code, for
	 * example {@link ExitCode#PEER_LOST} from a rank that cannot continue, so that the
	 * job is restarted.
	 * @param exitCode exit code of the ranks that end with this failure, in 1..255
	 * @param reason reason that every rank reports
	 */
	void abort(int exitCode, String reason);

	/**
	 * Binds a resource to the group, such as memory that its calls use. The action runs
	 * once, on the thread that closes the group, after this rank's last call has ended;
	 * at once if the group is closed already. Later actions run before earlier ones. If
	 * one throws, the others run and the group is closed; then {@link #close} throws that
	 * exception. May be called from any thread.
	 * @param action releases the resource
	 */
	void onClose(Runnable action);

	/**
	 * The one resource of this type and key that the group owns, for libraries on top of
	 * groups: such as staging memory that several objects of one group use. The first
	 * call creates it; its release is bound to the group as by {@link #onClose}. All
	 * views of a group share it. May be called from any thread.
	 * @param <T> type of the resource
	 * @param type class of the resource
	 * @param key tells resources of one class apart, by {@code equals}
	 * @param creator creates the resource; must not call this method
	 * @param release releases the resource
	 * @return the resource; if the group is closed already, a released one
	 */
	<T> T shared(Class<T> type, Object key, Supplier<? extends T> creator, Consumer<? super T> release);

	/**
	 * Leaves the group, then releases connections and memory. Calls that this rank has
	 * completed can still complete on other ranks. The first of their later calls that
	 * needs this rank breaks the group there: with a {@link PeerLostException} in the
	 * group of all ranks, which breaks every group with this rank, and with a
	 * {@link GroupAbortedException} in a subgroup. If a call, send, receive or probe of
	 * this rank has not ended, closing breaks the group on every rank with a
	 * {@link GroupAbortedException}, with which that call fails: cancel a receive that
	 * waits for no message any more. At the end of an application or of a generation of
	 * an elastic group, and in the subgroups of a group of all ranks that is closed, a
	 * message that has not ended is no failure of the other ranks, except on an MPI
	 * library, where it ends the job. There a waiting probe fails alone. Queued messages
	 * of small sends that have returned are sent first, for at most
	 * {@code tutti.timeout.drain}. A second call waits until the first has ended, but no
	 * longer than {@code tutti.timeout.drain} and twice {@code tutti.timeout.abort}, and
	 * has no other effect.
	 * @throws CollectiveException if they cannot be sent in that time; the group is then
	 * closed, and broken on every rank
	 */
	@Override
	void close();

	/** The buffer on the root; other ranks ignore it, so it may be anything there. */
	private MemorySegment onRoot(Collective call, String name, ByteBuffer buffer, DataType type, int root) {
		return (rank() == root) ? segment(call, name, buffer, type) : MemorySegment.NULL;
	}

	private MemorySegment onRoot(Collective call, String name, float[] values, int root) {
		return (rank() == root) ? array(call, name, values) : MemorySegment.NULL;
	}

	private MemorySegment onRoot(Collective call, String name, double[] values, int root) {
		return (rank() == root) ? array(call, name, values) : MemorySegment.NULL;
	}

	private MemorySegment onRoot(Collective call, String name, int[] values, int root) {
		return (rank() == root) ? array(call, name, values) : MemorySegment.NULL;
	}

	private MemorySegment onRoot(Collective call, String name, long[] values, int root) {
		return (rank() == root) ? array(call, name, values) : MemorySegment.NULL;
	}

	private MemorySegment segment(Collective call, String name, ByteBuffer buffer, DataType type) {
		requireNonNull(call, name, buffer);
		requireNonNull(call, "type", type);
		if (type.bytes() > 1 && buffer.order() != ByteOrder.nativeOrder()) {
			throw new IllegalArgumentException(place(call) + name + " must be in native byte order for " + type
					+ ", is " + buffer.order() + ": call order(ByteOrder.nativeOrder()) before you write to it");
		}
		return MemorySegment.ofBuffer(buffer);
	}

	private MemorySegment array(Collective call, String name, float[] values) {
		return MemorySegment.ofArray(requireNonNull(call, name, values));
	}

	private MemorySegment array(Collective call, String name, double[] values) {
		return MemorySegment.ofArray(requireNonNull(call, name, values));
	}

	private MemorySegment array(Collective call, String name, int[] values) {
		return MemorySegment.ofArray(requireNonNull(call, name, values));
	}

	private MemorySegment array(Collective call, String name, long[] values) {
		return MemorySegment.ofArray(requireNonNull(call, name, values));
	}

	private <T> T requireNonNull(Collective call, String name, @Nullable T argument) {
		if (argument == null) {
			throw new NullPointerException(place(call) + name + " must not be null");
		}
		return argument;
	}

	private String place(Collective call) {
		return "rank " + rank() + " of group " + name() + ": " + call + ": ";
	}

}
