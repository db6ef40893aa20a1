package io.tutti.engine.device;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.tutti.ExitCode;
import io.tutti.RankOutOfRangeException;
import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.RefusedCall;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Collectives of a process group on buffers in device memory. A call runs on the group's
 * backend if the backend supports device memory. Otherwise it goes through host memory if
 * the {@link HostFallback} allows that, with a warning for each call. Otherwise it throws
 * an {@link UnsupportedOperationException} that names both remedies.
 * <p>
 * A call without {@code InPlace} in its name does not change its input. All but
 * {@link #scatter} return a new buffer on the same device, which the caller closes. An
 * in-place call on a buffer with one part per rank has this rank's own part at its offset
 * in rank order. All-to-all has no in-place form, because NCCL has none. Every call is
 * ordered with the group's other calls, waits for work already queued on the default
 * stream, and returns when the result is complete. Work on other streams that fills the
 * input must be complete before the call. Arguments are checked before any work starts.
 * Failures are those of {@link ProcessGroup}; after a failure the buffers of the call are
 * undefined. A failure of the device breaks the group.
 * <p>
 * Every call is collective: all ranks must make it, in the same order among all calls of
 * the group, from any thread. Through host memory, a large buffer takes several calls of
 * the group, so make no other call of the group on another thread until it returns. The
 * limit of a call breaks the group when it expires, with exit code
 * {@link ExitCode#DEADLINE_PASSED}. Before any data is sent, a call throws an
 * {@link IllegalArgumentException} if a count does not divide among the ranks or the
 * group's backend works on another device, a {@link RankOutOfRangeException} for a root
 * outside of {@code 0..worldSize-1}, and an {@link UnsupportedOperationException} for an
 * element type that groups do not have, such as the 8-bit floating-point ones.
 * <p>
 * Pinned staging memory, at most 16 MiB per device, is allocated by the first call
 * through host memory and belongs to the group: it is reused by later calls and freed
 * when the group closes or a call fails. All objects of one group share it.
 */
public final class DeviceCollectives {

	private final ProcessGroup group;

	private final DeviceRuntime runtime;

	private final HostFallback fallback;

	private final CollectiveListener listener;

	private final Duration timeout;

	/**
	 * Creates the collectives of a group.
	 * @param group the ranks
	 * @param runtime the device runtime of this process
	 * @param fallback whether calls may go through host memory
	 * @param listener receives a warning for each call that goes through host memory
	 * @param timeout limit for each call
	 */
	public DeviceCollectives(ProcessGroup group, DeviceRuntime runtime, HostFallback fallback,
			CollectiveListener listener, Duration timeout) {
		this.group = group;
		this.runtime = runtime;
		this.fallback = fallback;
		this.listener = listener;
		this.timeout = timeout;
	}

	/**
	 * Checks that these are the collectives of a group, for code that uses both: of the
	 * same group or of a view of it.
	 * @param expected the group
	 * @throws IllegalArgumentException if they are those of another group
	 */
	public void requireGroup(ProcessGroup expected) {
		if (identity(expected) != identity(this.group)) {
			throw new IllegalArgumentException("rank " + expected.rank() + ": the DeviceCollectives are those of "
					+ this.group + ", not of " + expected + "; create them with that group");
		}
	}

	/** The same for all views of a group, such as one with another limit. */
	private static Object identity(ProcessGroup group) {
		return group.shared(Object.class, DeviceCollectives.class, Object::new, (_) -> {
		});
	}

	/**
	 * {@return the device runtime that the buffers belong to}
	 */
	public DeviceRuntime runtime() {
		return this.runtime;
	}

	/**
	 * Returns the reduction of all ranks' buffers.
	 * @param buffer this rank's operand, of the same count and type on every rank; not
	 * changed
	 * @param op operator that combines the operands, the same on every rank
	 * @return a new buffer of the same count
	 */
	public DeviceBuffer allReduce(DeviceBuffer buffer, ReduceOp op) {
		return intoCopy(Collective.ALL_REDUCE, buffer, 0, (copy) -> allReduceInPlace(copy, op));
	}

	/**
	 * Replaces the buffer with the reduction of all ranks' buffers.
	 * @param buffer this rank's operand, of the same count and type on every rank;
	 * replaced by the result
	 * @param op operator that combines the operands, the same on every rank
	 */
	public void allReduceInPlace(DeviceBuffer buffer, ReduceOp op) {
		run(Collective.ALL_REDUCE, buffer, buffer, op, 0);
	}

	/**
	 * Returns a copy of the root's buffer.
	 * @param buffer this rank's operand, of the same count and type on every rank; not
	 * changed
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 * @return a new buffer of the same count
	 */
	public DeviceBuffer broadcast(DeviceBuffer buffer, int root) {
		return intoCopy(Collective.BROADCAST, buffer, root, (copy) -> broadcastInPlace(copy, root));
	}

	/**
	 * Replaces the buffer with the root's buffer.
	 * @param buffer of the same count and type on every rank; replaced on all ranks but
	 * the root
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void broadcastInPlace(DeviceBuffer buffer, int root) {
		run(Collective.BROADCAST, buffer, buffer, ReduceOp.SUM, root);
	}

	/**
	 * Returns the reduction of all ranks' buffers on the root, and a copy of the input on
	 * other ranks.
	 * @param buffer this rank's operand, of the same count and type on every rank; not
	 * changed
	 * @param op operator that combines the operands, the same on every rank
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 * @return a new buffer of the same count
	 */
	public DeviceBuffer reduce(DeviceBuffer buffer, ReduceOp op, int root) {
		return intoCopy(Collective.REDUCE, buffer, root, (copy) -> reduceInPlace(copy, op, root));
	}

	/**
	 * Replaces the root's buffer with the reduction; buffers of other ranks do not
	 * change.
	 * @param buffer this rank's operand, of the same count and type on every rank;
	 * replaced on the root
	 * @param op operator that combines the operands, the same on every rank
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void reduceInPlace(DeviceBuffer buffer, ReduceOp op, int root) {
		run(Collective.REDUCE, buffer, buffer, op, root);
	}

	/**
	 * Returns the buffers of all ranks, in rank order.
	 * @param buffer this rank's part, of the same count and type on every rank; not
	 * changed
	 * @return a new buffer of count × world size elements
	 */
	public DeviceBuffer allGather(DeviceBuffer buffer) {
		return intoNew(Collective.ALL_GATHER, buffer, ofAllRanks(Collective.ALL_GATHER, buffer), ReduceOp.SUM, 0);
	}

	/**
	 * Fills a buffer with the parts of all ranks.
	 * @param whole one part per rank, in rank order; only this rank's part is read
	 */
	public void allGatherInPlace(DeviceBuffer whole) {
		run(Collective.ALL_GATHER, own(Collective.ALL_GATHER, whole), whole, ReduceOp.SUM, 0);
	}

	/**
	 * Returns this rank's part of the reduction of all ranks' buffers.
	 * @param buffer this rank's operand, one part per rank in rank order; not changed
	 * @param op operator that combines the operands, the same on every rank
	 * @return a new buffer of count / world size elements
	 */
	public DeviceBuffer reduceScatter(DeviceBuffer buffer, ReduceOp op) {
		return intoNew(Collective.REDUCE_SCATTER, buffer, partCount(Collective.REDUCE_SCATTER, buffer), op, 0);
	}

	/**
	 * Replaces this rank's part of the buffer with the same part of the reduction of all
	 * ranks' buffers; the other parts are undefined afterwards.
	 * @param whole this rank's operand, one part per rank in rank order
	 * @param op operator that combines the operands, the same on every rank
	 * @return this rank's part, in the same memory
	 */
	public DeviceBuffer reduceScatterInPlace(DeviceBuffer whole, ReduceOp op) {
		DeviceBuffer own = own(Collective.REDUCE_SCATTER, whole);
		run(Collective.REDUCE_SCATTER, whole, own, op, 0);
		return own;
	}

	/**
	 * Returns the buffers of all ranks in rank order on the root, and an empty buffer on
	 * other ranks.
	 * @param buffer this rank's part, of the same count and type on every rank; not
	 * changed
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 * @return a new buffer, of count × world size elements on the root
	 */
	public DeviceBuffer gather(DeviceBuffer buffer, int root) {
		long count = (this.group.rank() == root) ? ofAllRanks(Collective.GATHER, buffer) : 0;
		return intoNew(Collective.GATHER, buffer, count, ReduceOp.SUM, root);
	}

	/**
	 * Fills the root's buffer with the parts of all ranks.
	 * @param buffer on the root, one part per rank, of which only its own is read; on
	 * other ranks this rank's part, which does not change
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void gatherInPlace(DeviceBuffer buffer, int root) {
		boolean isRoot = this.group.rank() == root;
		run(Collective.GATHER, isRoot ? own(Collective.GATHER, buffer) : buffer, isRoot ? buffer : buffer.part(0, 0),
				ReduceOp.SUM, root);
	}

	/**
	 * Returns, in rank order, the part that each rank sends to this rank.
	 * @param buffer one part per rank in rank order; not changed
	 * @return a new buffer of the same count
	 */
	public DeviceBuffer allToAll(DeviceBuffer buffer) {
		long count = partCount(Collective.ALL_TO_ALL, buffer) * worldSize();
		return intoNew(Collective.ALL_TO_ALL, buffer, count, ReduceOp.SUM, 0);
	}

	/**
	 * Writes this rank's part of the root's buffer to {@code receive}.
	 * @param send all parts in rank order on the root; ignored on other ranks
	 * @param receive this rank's part; on the root, of the type and on the device of
	 * {@code send}, and either without overlap with it or the root's part of it
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void scatter(DeviceBuffer send, DeviceBuffer receive, int root) {
		boolean isRoot = this.group.rank() == root;
		if (isRoot) {
			requireAllParts(send, receive);
		}
		run(Collective.SCATTER, isRoot ? send : receive.part(0, 0), receive, ReduceOp.SUM, root);
	}

	private void requireAllParts(DeviceBuffer send, DeviceBuffer receive) {
		long all = ofAllRanks(Collective.SCATTER, receive);
		checked(Collective.SCATTER, () -> {
			send.requireLike(receive);
			if (send.count() != all) {
				throw new IllegalArgumentException("send count must be " + all + " (" + worldSize()
						+ " × the receive count), got " + send.count());
			}
			requireOwnPartOrDisjoint(send, receive);
			return true;
		});
	}

	private void requireOwnPartOrDisjoint(DeviceBuffer send, DeviceBuffer receive) {
		long offset = receive.address() - send.address();
		boolean overlap = offset < send.bytes() && -offset < receive.bytes();
		if (overlap && offset != this.group.rank() * receive.bytes()) {
			throw new IllegalArgumentException(
					"send and receive buffers must not overlap, unless the receive buffer is "
							+ "this rank's part of the send buffer, from element "
							+ this.group.rank() * receive.count());
		}
	}

	/**
	 * Gives every rank its part of the root's buffer.
	 * @param buffer on the root, one part per rank, which do not change; on other ranks
	 * this rank's part, which is replaced
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void scatterInPlace(DeviceBuffer buffer, int root) {
		boolean isRoot = this.group.rank() == root;
		run(Collective.SCATTER, isRoot ? buffer : buffer.part(0, 0), isRoot ? own(Collective.SCATTER, buffer) : buffer,
				ReduceOp.SUM, root);
	}

	private long ofAllRanks(Collective collective, DeviceBuffer part) {
		return checked(collective, () -> {
			if (part.count() > Long.MAX_VALUE / worldSize()) {
				throw new IllegalArgumentException("count must be in 0.." + Long.MAX_VALUE / worldSize() + " for "
						+ worldSize() + " ranks, got " + part.count());
			}
			return part.count() * worldSize();
		});
	}

	/** This rank's part of a buffer with one part per rank. */
	private DeviceBuffer own(Collective collective, DeviceBuffer whole) {
		long count = partCount(collective, whole);
		return whole.part(this.group.rank() * count, count);
	}

	/** Number of elements of each part of a buffer with one part per rank. */
	private long partCount(Collective collective, DeviceBuffer whole) {
		return checked(collective, () -> {
			if (whole.count() % worldSize() != 0) {
				throw new IllegalArgumentException(
						"count must be a multiple of " + worldSize() + " (one part per rank), got " + whole.count());
			}
			return whole.count() / worldSize();
		});
	}

	/** Adds rank, group and call to the message of a check. */
	private <T> T checked(Collective collective, Supplier<T> check) {
		try {
			return check.get();
		}
		catch (IllegalArgumentException | UnsupportedOperationException ex) {
			throw RefusedCall.at(RefusedCall.place(this.group.rank(), this.group.name(), collective.label()), ex);
		}
	}

	/** Makes an in-place call on a copy of the input. */
	private DeviceBuffer intoCopy(Collective collective, DeviceBuffer buffer, int root, Consumer<DeviceBuffer> call) {
		require(collective, buffer, root);
		DeviceBuffer copy = allocate(buffer, buffer.count(), collective);
		return CleanUp.orElse(() -> {
			copy(collective, buffer, copy);
			call.accept(copy);
			return copy;
		}, copy::close);
	}

	/** Runs on the default stream, after the work that fills the input. */
	private void copy(Collective collective, DeviceBuffer from, DeviceBuffer to) {
		try (SelectedDevice _ = SelectedDevice.select(this.runtime, from.device())) {
			this.runtime.copy(to.address(), from.address(), from.bytes(), DeviceRuntime.DEFAULT_STREAM);
		}
		catch (DeviceException ex) {
			throw failed(collective, ex);
		}
	}

	private DeviceBuffer intoNew(Collective collective, DeviceBuffer send, long count, ReduceOp op, int root) {
		require(collective, send, root);
		DeviceBuffer receive = allocate(send, count, collective);
		return CleanUp.orElse(() -> {
			run(collective, send, receive, op, root);
			return receive;
		}, receive::close);
	}

	private void run(Collective collective, DeviceBuffer send, DeviceBuffer receive, ReduceOp op, int root) {
		require(collective, receive, root);
		Deadline deadline = Deadline.after(this.timeout);
		try {
			awaitInput(collective, receive.device(), deadline);
		}
		catch (DeviceException ex) {
			throw failed(collective, ex);
		}
		if (this.group.takesDeviceMemory()) {
			run(this.group.withTimeout(deadline.remaining()), collective, send.segment(), receive.segment(),
					hostType(receive), op, root);
			return;
		}
		this.listener.warn(collective + " of " + receive + " goes through host memory, since group " + this.group.name()
				+ " runs on " + this.group.backend() + "; to forbid that unset " + HostFallback.PROPERTY + " and "
				+ HostFallback.VARIABLE);
		HostStaging.of(this.group, this.runtime, receive.device(), this.listener)
			.run(new HostStaging.Staged(this.group, collective, send, receive, hostType(receive), op, root), deadline);
	}

	/**
	 * Aborts a group whose other ranks wait for a call that this rank cannot make.
	 * @return the exception that a call on the broken group throws, with its cause
	 */
	static RuntimeException broken(ProcessGroup group, Collective collective, int exitCode, @Nullable String problem,
			@Nullable Throwable cause) {
		group.abort(exitCode, collective + ": " + problem);
		return ended(group, collective, cause);
	}

	/**
	 * The exception that a call on a broken or closed group throws, with its cause. While
	 * the group closes, a call could still reach the other ranks, so waits for its end.
	 */
	static RuntimeException ended(ProcessGroup group, Collective collective, @Nullable Throwable cause) {
		if (group.state() == GroupState.CLOSED) {
			CompletableFuture<Boolean> closed = new CompletableFuture<>();
			group.onClose(() -> closed.complete(true));
			closed.join();
		}
		try {
			group.barrier();
			return new IllegalStateException("group " + group.name() + " is neither broken nor closed", cause);
		}
		catch (CollectiveException ex) {
			return CollectiveException.of(ex.rank(), ex.worldSize(), ex.failure(), cause);
		}
		catch (GroupStateException ex) {
			return GroupStateException.closed(ex.origin().of(collective));
		}
	}

	private DeviceBuffer allocate(DeviceBuffer like, long count, Collective collective) {
		try {
			return DeviceBuffer.allocate(this.runtime, like.device(), count, like.type());
		}
		catch (DeviceException ex) {
			throw failed(collective, ex);
		}
	}

	private RuntimeException failed(Collective collective, DeviceException ex) {
		return broken(this.group, collective, ExitCode.PEER_LOST, ex.getMessage(), ex);
	}

	private void awaitInput(Collective collective, int device, Deadline deadline) {
		try (SelectedDevice _ = SelectedDevice.select(this.runtime, device)) {
			await(this.group, this.runtime, DeviceRuntime.DEFAULT_STREAM, deadline, collective,
					"the default stream of device " + device + " was not idle");
		}
	}

	/**
	 * Waits for the work queued on a stream, until the group is broken or closed. Breaks
	 * the group at the deadline or after an interrupt.
	 * @param problem what is wrong in that case
	 */
	static void await(ProcessGroup group, DeviceRuntime runtime, long stream, Deadline deadline, Collective collective,
			String problem) {
		if (IdleStrategy.await(() -> runtime.isIdle(stream), () -> group.state() != GroupState.READY, deadline)) {
			return;
		}
		if (Thread.currentThread().isInterrupted()) {
			throw broken(group, collective, ExitCode.PEER_LOST, problem + " before the calling thread was interrupted",
					new InterruptedException());
		}
		if (group.state() != GroupState.READY) {
			throw ended(group, collective, null);
		}
		throw broken(group, collective, ExitCode.DEADLINE_PASSED,
				problem + " within " + deadline.timeout().toMillis() + " ms", null);
	}

	/**
	 * Runs a collective of a group. Only the receive buffer is used where a collective
	 * has one buffer.
	 */
	static void run(ProcessGroup group, Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			ReduceOp op, int root) {
		switch (collective) {
			case ALL_REDUCE -> group.allReduce(receive, type, op);
			case BROADCAST -> group.broadcast(receive, type, root);
			case REDUCE -> group.reduce(send, receive, type, op, root);
			case ALL_GATHER -> group.allGather(send, receive, type);
			case REDUCE_SCATTER -> group.reduceScatter(send, receive, type, op);
			case GATHER -> group.gather(send, receive, type, root);
			case SCATTER -> group.scatter(send, receive, type, root);
			case ALL_TO_ALL -> group.allToAll(send, receive, type);
			case BARRIER -> group.barrier();
			case SCAN, EXCLUSIVE_SCAN -> throw new UnsupportedOperationException(
					collective + " is not offered on device memory; use buffers in host memory");
		}
	}

	private int worldSize() {
		return this.group.worldSize();
	}

	/** Checked before a buffer is allocated and before the group counts the call. */
	private void require(Collective collective, DeviceBuffer buffer, int root) {
		checked(collective, () -> {
			RankOutOfRangeException.check("root", root, worldSize());
			hostType(buffer);
			if (!this.group.takesDeviceMemory() && !this.fallback.allowed()) {
				throw new UnsupportedOperationException(
						"the group's backend " + this.group.backend() + " does not support device memory, got " + buffer
								+ ". Start with the profile nccl, or allow the way through host memory with "
								+ HostFallback.PROPERTY + "=true or " + HostFallback.VARIABLE + "=1");
			}
			return true;
		});
	}

	private static DataType hostType(DeviceBuffer buffer) {
		DataType type = buffer.type().host();
		if (type == null) {
			throw new UnsupportedOperationException("groups have no " + buffer.type()
					+ "; use an NCCL rank communicator for it, or a type of the same size");
		}
		return type;
	}

}
