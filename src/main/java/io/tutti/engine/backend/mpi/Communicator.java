package io.tutti.engine.backend.mpi;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.MessageMismatchException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * A process group with MPI's names and rules.
 * <p>
 * A buffer is a {@link MemorySegment}, an array of primitive values or a buffer of
 * {@code java.nio} (from its position on, in native byte order). A count is in elements
 * of the data type; a larger buffer is used from its start. Calls without a send buffer
 * work in place. Every rank calls the same collectives in the same order. Messages
 * between two ranks are non-overtaking: a receive takes the first message that matches
 * it.
 * <p>
 * Invalid arguments throw an {@link IllegalArgumentException} or an
 * {@link InvalidRankException} before any data is sent, and {@code null} for a buffer
 * that every rank needs throws a {@link NullPointerException}. A
 * {@link CollectiveException} means that the communicator is broken on every rank for the
 * same reason. Thread-safe.
 */
public final class Communicator implements AutoCloseable {

	private final ProcessGroup group;

	/** Ends the job of {@link Mpi}, {@code null} for a communicator over a group. */
	private final @Nullable IntConsumer endJob;

	Communicator(ProcessGroup group, @Nullable IntConsumer endJob) {
		this.group = group;
		this.endJob = endJob;
	}

	/**
	 * Wraps an existing group; closing the communicator closes the group.
	 * @param group group of all ranks of the communicator
	 * @return the communicator
	 */
	public static Communicator over(ProcessGroup group) {
		return new Communicator(group, null);
	}

	/**
	 * {@code MPI_Comm_rank}.
	 * @return this process's rank, in {@code 0..size-1}
	 */
	public int rank() {
		return this.group.rank();
	}

	/**
	 * {@code MPI_Comm_size}.
	 * @return number of ranks
	 */
	public int size() {
		return this.group.worldSize();
	}

	/**
	 * The underlying group, for operations that MPI does not have.
	 * @return the group
	 */
	public ProcessGroup group() {
		return this.group;
	}

	/**
	 * {@code MPI_Comm_split}: ranks with the same color form a communicator, ordered by
	 * key and then by rank in this communicator. Every rank calls it.
	 * @param color 0 or more, or {@link Mpi#UNDEFINED}
	 * @param key position of this rank among those of its color
	 * @return {@code null} if the color is undefined
	 */
	public @Nullable Communicator split(int color, int key) {
		if (color < 0 && color != Mpi.UNDEFINED) {
			throw new IllegalArgumentException(new MpiCall(this.group, "split").place()
					+ "color must be at least 0 or Mpi.UNDEFINED, got " + color);
		}
		ProcessGroup part = this.group.split(color, key);
		return (part != null) ? new Communicator(part, this.endJob) : null;
	}

	/**
	 * {@code MPI_Abort}: as {@link Mpi#abort} for a communicator of {@link Mpi}, and as
	 * {@link ProcessGroup#abort(int, String)} for one {@linkplain #over over} a group or
	 * split from such a communicator.
	 * @param code exit code
	 */
	public void abort(int code) {
		if (this.endJob != null) {
			this.endJob.accept(code);
		}
		else {
			this.group.abort(Mpi.exitCode(code), Mpi.abortReason(code));
		}
	}

	/** {@code MPI_Comm_free}. */
	@Override
	public void close() {
		this.group.close();
	}

	/** {@code MPI_Barrier}. */
	public void barrier() {
		this.group.barrier();
	}

	/**
	 * {@code MPI_Ibarrier}.
	 * @return completes when every rank has called it
	 */
	public Request iBarrier() {
		return new Request(this.group.barrierAsync());
	}

	/**
	 * {@code MPI_Bcast}.
	 * @param buffer {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; read on the root,
	 * replaced on other ranks
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void bcast(Object buffer, int count, DataType type, int root) {
		MpiCall call = call(Collective.BROADCAST);
		this.group.broadcast(call.buffer(buffer, count, type), type, call.root(root));
	}

	/**
	 * {@code MPI_Ibcast}.
	 * @param buffer {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; read on the root,
	 * replaced on other ranks
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 * @return the call in progress; its buffers are left alone until it is done
	 */
	public Request iBcast(Object buffer, int count, DataType type, int root) {
		MpiCall call = call(Collective.BROADCAST);
		return new Request(this.group.broadcastAsync(call.buffer(buffer, count, type), type, call.root(root)));
	}

	/**
	 * {@code MPI_Allreduce}.
	 * @param send {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; left as it is
	 * @param receive the reduction of all ranks' operands: {@code count} elements as
	 * {@code send}
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 */
	public void allReduce(Object send, Object receive, int count, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.ALL_REDUCE);
		this.group.allReduce(call.buffer(send, count, type), call.buffer(receive, count, type), type, op);
	}

	/**
	 * {@code MPI_Allreduce} in place.
	 * @param buffer {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; replaced by the
	 * reduction of all ranks' operands
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 */
	public void allReduce(Object buffer, int count, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.ALL_REDUCE);
		this.group.allReduce(call.buffer(buffer, count, type), type, op);
	}

	/**
	 * {@code MPI_Iallreduce}.
	 * @param send {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; left as it is
	 * @param receive the reduction of all ranks' operands: {@code count} elements as
	 * {@code send}
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 * @return the call in progress; its buffers are left alone until it is done
	 */
	public Request iAllReduce(Object send, Object receive, int count, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.ALL_REDUCE);
		return new Request(
				this.group.allReduceAsync(call.buffer(send, count, type), call.buffer(receive, count, type), type, op));
	}

	/**
	 * {@code MPI_Iallreduce} in place.
	 * @param buffer {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; replaced by the
	 * reduction of all ranks' operands
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 * @return the call in progress; its buffers are left alone until it is done
	 */
	public Request iAllReduce(Object buffer, int count, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.ALL_REDUCE);
		return new Request(this.group.allReduceAsync(call.buffer(buffer, count, type), type, op));
	}

	/**
	 * {@code MPI_Reduce}; {@code receive} is ignored on other ranks than the root.
	 * @param send {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; left as it is
	 * @param receive on the root, the reduction of all ranks' operands: {@code count}
	 * elements
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void reduce(Object send, @Nullable Object receive, int count, DataType type, ReduceOp op, int root) {
		MpiCall call = call(Collective.REDUCE);
		this.group.reduce(call.buffer(send, count, type), call.onRoot("receive", receive, count, type, root), type, op,
				root);
	}

	/**
	 * {@code MPI_Reduce}, in place on the root.
	 * @param buffer {@code count} elements in an array of the type's primitive, a
	 * {@code java.nio} buffer from its position on, or a segment; replaced on the root by
	 * the reduction of all ranks' operands
	 * @param count number of elements, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void reduce(Object buffer, int count, DataType type, ReduceOp op, int root) {
		MpiCall call = call(Collective.REDUCE);
		MemorySegment memory = call.buffer(buffer, count, type);
		this.group.reduce(memory, memory, type, op, call.root(root));
	}

	/**
	 * {@code MPI_Allgather}.
	 * @param send this rank's part: {@code count} elements in an array of the type's
	 * primitive, a {@code java.nio} buffer from its position on, or a segment
	 * @param receive {@code count × size} elements, one part per rank in rank order
	 * afterwards
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 */
	public void allGather(Object send, Object receive, int count, DataType type) {
		MpiCall call = call(Collective.ALL_GATHER);
		this.group.allGather(call.buffer(send, count, type), call.whole(receive, count, type), type);
	}

	/**
	 * {@code MPI_Allgather} in place: this rank's part is at its offset in the buffer.
	 * @param buffer {@code count × size} elements, one part per rank in rank order of
	 * which only its own is read
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 */
	public void allGather(Object buffer, int count, DataType type) {
		MpiCall call = call(Collective.ALL_GATHER);
		MemorySegment all = call.whole(buffer, count, type);
		this.group.allGather(own(all), all, type);
	}

	/**
	 * {@code MPI_Reduce_scatter}.
	 * @param send this rank's operand: as many elements as all counts together, in an
	 * array of the type's primitive, a {@code java.nio} buffer from its position on, or a
	 * segment
	 * @param receive this rank's part of the reduction, {@code counts[rank]} elements
	 * @param counts elements of each rank's part of the result
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 */
	public void reduceScatter(Object send, Object receive, int[] counts, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.REDUCE_SCATTER);
		long[] parts = call.parts(counts);
		this.group.reduceScatter(call.buffer(send, Arrays.stream(parts).sum(), type),
				call.buffer(receive, parts[rank()], type), parts, type, op);
	}

	/**
	 * {@code MPI_Reduce_scatter} in place: this rank's part of the result is written at
	 * the start of the buffer; the rest does not change.
	 * @param buffer this rank's operand: as many elements as all counts together, in an
	 * array of the type's primitive, a {@code java.nio} buffer from its position on, or a
	 * segment
	 * @param counts elements of each rank's part of the result, the same on every rank
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 */
	public void reduceScatter(Object buffer, int[] counts, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.REDUCE_SCATTER);
		long[] parts = call.parts(counts);
		MemorySegment operand = call.buffer(buffer, Arrays.stream(parts).sum(), type);
		this.group.reduceScatter(MpiBuffer.copy(operand), call.buffer(buffer, parts[rank()], type), parts, type, op);
	}

	/**
	 * {@code MPI_Reduce_scatter_block}: reduce-scatter with equal counts.
	 * @param send {@code count × size} elements, one part per rank in rank order in an
	 * array of the type's primitive, a {@code java.nio} buffer from its position on, or a
	 * segment
	 * @param receive this rank's part of the reduction, {@code count} elements
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 * @param op operator that combines the operands, the same on every rank
	 */
	public void reduceScatterBlock(Object send, Object receive, int count, DataType type, ReduceOp op) {
		MpiCall call = call(Collective.REDUCE_SCATTER);
		this.group.reduceScatter(call.whole(send, count, type), call.buffer(receive, count, type), type, op);
	}

	/**
	 * {@code MPI_Gather}; {@code receive} is ignored on other ranks than the root.
	 * @param send this rank's part: {@code count} elements in an array of the type's
	 * primitive, a {@code java.nio} buffer from its position on, or a segment
	 * @param receive on the root, {@code count × size} elements, one part per rank in
	 * rank order afterwards
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void gather(Object send, @Nullable Object receive, int count, DataType type, int root) {
		MpiCall call = call(Collective.GATHER);
		this.group.gather(call.buffer(send, count, type),
				call.onRoot("receive", receive, (long) count * size(), type, root), type, root);
	}

	/**
	 * {@code MPI_Gather}, in place on the root: its buffer has room for all parts and
	 * holds its own at its offset. Buffers of other ranks hold their part.
	 * @param buffer on the root, {@code count × size} elements, one part per rank in rank
	 * order afterwards; on other ranks, the part, {@code count} elements
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void gather(Object buffer, int count, DataType type, int root) {
		MpiCall call = call(Collective.GATHER);
		if (rank() != call.root(root)) {
			this.group.gather(call.buffer(buffer, count, type), MemorySegment.NULL, type, root);
			return;
		}
		MemorySegment all = call.whole(buffer, count, type);
		this.group.gather(own(all), all, type, root);
	}

	/**
	 * {@code MPI_Scatter}; {@code send} is ignored on other ranks than the root.
	 * @param send on the root, {@code count × size} elements, one part per rank in rank
	 * order in an array of the type's primitive, a {@code java.nio} buffer from its
	 * position on, or a segment
	 * @param receive this rank's part afterwards, {@code count} elements
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void scatter(@Nullable Object send, Object receive, int count, DataType type, int root) {
		MpiCall call = call(Collective.SCATTER);
		this.group.scatter(call.onRoot("send", send, (long) count * size(), type, root),
				call.buffer(receive, count, type), type, root);
	}

	/**
	 * {@code MPI_Scatter}, in place on the root: its buffer holds all parts and does not
	 * change. Buffers of other ranks receive their part.
	 * @param buffer on the root, {@code count × size} elements, one part per rank in rank
	 * order ; on other ranks, the part afterwards, {@code count} elements
	 * @param count elements of each rank's part
	 * @param type element type, the same on every rank
	 * @param root rank of the root, in {@code 0..size-1}, the same on every rank
	 */
	public void scatter(Object buffer, int count, DataType type, int root) {
		MpiCall call = call(Collective.SCATTER);
		if (rank() != call.root(root)) {
			this.group.scatter(MemorySegment.NULL, call.buffer(buffer, count, type), type, root);
			return;
		}
		MemorySegment all = call.whole(buffer, count, type);
		MemorySegment part = own(all);
		this.group.scatter(all, all.isReadOnly() ? MpiBuffer.copy(part) : part, type, root);
	}

	/**
	 * {@code MPI_Alltoall}.
	 * @param send {@code count × size} elements, one part per rank in rank order in an
	 * array of the type's primitive, a {@code java.nio} buffer from its position on, or a
	 * segment
	 * @param receive {@code count × size} elements, one part per rank in rank order
	 * afterwards: the part of each rank for this one
	 * @param count elements per pair of ranks
	 * @param type element type, the same on every rank
	 */
	public void allToAll(Object send, Object receive, int count, DataType type) {
		MpiCall call = call(Collective.ALL_TO_ALL);
		this.group.allToAll(call.whole(send, count, type), call.whole(receive, count, type), type);
	}

	/**
	 * {@code MPI_Alltoall} in place.
	 * @param buffer {@code count × size} elements, one part per rank in rank order in an
	 * array of the type's primitive, a {@code java.nio} buffer from its position on, or a
	 * segment; replaced by the part of each rank for this one
	 * @param count elements per pair of ranks
	 * @param type element type, the same on every rank
	 */
	public void allToAll(Object buffer, int count, DataType type) {
		MpiCall call = call(Collective.ALL_TO_ALL);
		MemorySegment all = call.whole(buffer, count, type);
		this.group.allToAll(MpiBuffer.copy(all), all, type);
	}

	/**
	 * {@code MPI_Send}; a no-op for {@link Mpi#PROC_NULL}.
	 * @param buffer the message, {@code count} elements in an array of the type's
	 * primitive, a {@code java.nio} buffer from its position on, or a segment
	 * @param count number of elements
	 * @param type element type of the message
	 * @param peer rank to send to, or {@link Mpi#PROC_NULL}
	 * @param tag tag of the message, 0 or more
	 */
	public void send(Object buffer, int count, DataType type, int peer, int tag) {
		MpiCall call = new MpiCall(this.group, "send");
		MemorySegment memory = call.buffer(buffer, count, type);
		if (peer != Mpi.PROC_NULL) {
			this.group.send(memory, type, call.destination(peer), tag);
		}
	}

	/**
	 * {@code MPI_Isend}.
	 * @param buffer the message, {@code count} elements in an array of the type's
	 * primitive, a {@code java.nio} buffer from its position on, or a segment
	 * @param count number of elements
	 * @param type element type of the message
	 * @param peer rank to send to, or {@link Mpi#PROC_NULL}
	 * @param tag tag of the message, 0 or more
	 * @return the call in progress; its buffers are left alone until it is done
	 */
	public Request iSend(Object buffer, int count, DataType type, int peer, int tag) {
		MpiCall call = new MpiCall(this.group, "send");
		MemorySegment memory = call.buffer(buffer, count, type);
		return (peer == Mpi.PROC_NULL) ? new Request(null)
				: new Request(this.group.sendAsync(memory, type, call.destination(peer), tag));
	}

	/**
	 * {@code MPI_Recv}.
	 * @param buffer receives the message, from the start; room for {@code count} elements
	 * @param count capacity of the buffer in elements
	 * @param type element type of the message
	 * @param source a rank, {@link Mpi#ANY_SOURCE} or {@link Mpi#PROC_NULL}
	 * @param tag a tag or {@link Mpi#ANY_TAG}
	 * @return source, tag and number of elements of the message
	 * @throws MessageMismatchException if the message is larger or, on Tutti's own
	 * engine, of another type
	 */
	public Status recv(Object buffer, int count, DataType type, int source, int tag) {
		MpiCall call = new MpiCall(this.group, "receive");
		MemorySegment memory = call.buffer(buffer, count, type);
		return (source == Mpi.PROC_NULL) ? Status.EMPTY
				: Status.of(this.group.receiveAny(memory, type, call.source(source), tag));
	}

	/**
	 * {@link #recv(Object, int, DataType, int, int)} with a timeout. A receive that times
	 * out before a message has matched it fails alone; afterwards, the communicator
	 * breaks on every rank.
	 * @param buffer receives the message, from the start; room for {@code count} elements
	 * @param count capacity of the buffer in elements
	 * @param type element type of the message
	 * @param source a rank, {@link Mpi#ANY_SOURCE} or {@link Mpi#PROC_NULL}
	 * @param tag a tag or {@link Mpi#ANY_TAG}
	 * @param timeout time limit instead of that of the communicator
	 * @return source, tag and number of elements of the message
	 */
	public Status recv(Object buffer, int count, DataType type, int source, int tag, Duration timeout) {
		MpiCall call = new MpiCall(this.group, "receive");
		MemorySegment memory = call.buffer(buffer, count, type);
		return (source == Mpi.PROC_NULL) ? Status.EMPTY
				: Status.of(this.group.withTimeout(timeout).receiveAny(memory, type, call.source(source), tag));
	}

	/**
	 * {@code MPI_Irecv}.
	 * @param buffer receives the message, from the start; room for {@code count} elements
	 * @param count capacity of the buffer in elements
	 * @param type element type of the message
	 * @param source a rank, {@link Mpi#ANY_SOURCE} or {@link Mpi#PROC_NULL}
	 * @param tag a tag or {@link Mpi#ANY_TAG}
	 * @return the call in progress; its buffers are left alone until it is done
	 */
	public Request iRecv(Object buffer, int count, DataType type, int source, int tag) {
		MpiCall call = new MpiCall(this.group, "receive");
		MemorySegment memory = call.buffer(buffer, count, type);
		return (source == Mpi.PROC_NULL) ? new Request(null)
				: new Request(this.group.receiveAsync(memory, type, call.source(source), tag));
	}

	/**
	 * {@code MPI_Sendrecv}: a concurrent send and receive, each with its own peer, tag,
	 * type and count. If one fails, the other is cancelled or, once it has matched, ends
	 * before the failure is thrown.
	 * @param send the message to send, {@code sendCount} elements
	 * @param sendCount number of elements to send
	 * @param sendType element type of the message to send
	 * @param peer rank to send to, or {@link Mpi#PROC_NULL}
	 * @param sendTag tag of the message to send, 0 or more
	 * @param receive receives the other message, from the start; must not overlap
	 * {@code send}
	 * @param receiveCount capacity of {@code receive} in elements
	 * @param receiveType element type of the other message
	 * @param source a rank, {@link Mpi#ANY_SOURCE} or {@link Mpi#PROC_NULL}
	 * @param receiveTag a tag or {@link Mpi#ANY_TAG}
	 * @return source, tag and number of elements of the message received
	 */
	public Status sendRecv(Object send, int sendCount, DataType sendType, int peer, int sendTag, Object receive,
			int receiveCount, DataType receiveType, int source, int receiveTag) {
		MpiCall call = new MpiCall(this.group, "send-receive");
		MemorySegment outgoing = call.buffer(send, sendCount, sendType);
		MemorySegment incoming = call.buffer(receive, receiveCount, receiveType);
		call.requireDisjoint(outgoing, incoming);
		List<Transfer> transfers = new ArrayList<>();
		if (source != Mpi.PROC_NULL) {
			transfers.add(Transfer.receive(incoming, receiveType, call.source(source), receiveTag));
		}
		if (peer != Mpi.PROC_NULL) {
			transfers.add(Transfer.send(outgoing, sendType, call.destination(peer), sendTag));
		}
		List<Request> started = this.group.startAll(transfers).stream().map(Request::new).toList();
		try {
			List<Status> done = started.stream().map(Request::waitFor).toList();
			return (source != Mpi.PROC_NULL) ? done.getFirst() : Status.EMPTY;
		}
		catch (RuntimeException | Error ex) {
			CleanUp.after(ex, started.stream().<Runnable>map((request) -> () -> end(request)).toList());
			throw ex;
		}
	}

	/** Cancels a request, or waits for it: it may still access its buffer. */
	private static void end(Request request) {
		if (!request.cancel()) {
			request.waitFor();
		}
	}

	private MpiCall call(Collective collective) {
		return new MpiCall(this.group, collective.label());
	}

	private MemorySegment own(MemorySegment all) {
		long bytes = all.byteSize() / size();
		return all.asSlice(rank() * bytes, bytes);
	}

}
