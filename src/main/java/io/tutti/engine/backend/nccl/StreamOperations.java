package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Collectives and point-to-point messages of one communicator on one stream. A call
 * returns when NCCL has enqueued it, and runs on the device after earlier work on the
 * stream; {@link #synchronize} waits for it. An {@link IllegalArgumentException}, and an
 * {@link UnsupportedOperationException} for what the installed NCCL lacks, is thrown
 * before any work starts; an {@link NcclException} means that the communicator can no
 * longer be used.
 */
public final class StreamOperations {

	private static final DeviceReduction NONE = DeviceReduction.of(ReduceOp.SUM);

	private final NcclCommunicator communicator;

	private final NcclCalls calls;

	private final long stream;

	private final Duration timeout;

	/** The open group of calls, or {@code null} if each call is issued at once. */
	private final @Nullable GroupedCalls group;

	StreamOperations(NcclCommunicator communicator, long stream, Duration timeout) {
		this(communicator, stream, timeout, null);
	}

	private StreamOperations(NcclCommunicator communicator, long stream, Duration timeout,
			@Nullable GroupedCalls group) {
		this.communicator = communicator;
		this.calls = new NcclCalls(communicator.library().availability(), communicator.place());
		this.stream = stream;
		this.timeout = timeout;
		this.group = group;
	}

	/**
	 * {@return the stream's handle}
	 */
	public long stream() {
		return this.stream;
	}

	/**
	 * The same operations with another limit for each call.
	 * @param limit limit of each call, more than zero
	 * @return the operations
	 */
	public StreamOperations within(Duration limit) {
		return new StreamOperations(this.communicator, this.stream, limit, this.group);
	}

	/**
	 * Every rank receives the reduction of all ranks' operands.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param reduction how the operands are combined, the same on every rank
	 */
	public void allReduce(DeviceOperands operands, DeviceReduction reduction) {
		run(Collective.ALL_REDUCE, operands, reduction, 0);
	}

	/**
	 * Several {@link #allReduce(DeviceOperands, DeviceReduction)} calls in one group.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param reduction how the operands are combined, the same on every rank
	 */
	public void allReduce(List<DeviceOperands> operands, DeviceReduction reduction) {
		group((together) -> operands.forEach((each) -> together.allReduce(each, reduction)));
	}

	/**
	 * The root receives the reduction; receive buffers of other ranks are ignored.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param reduction how the operands are combined, the same on every rank
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void reduce(DeviceOperands operands, DeviceReduction reduction, int root) {
		run(Collective.REDUCE, operands, reduction, root);
	}

	/**
	 * Every rank receives the root's send buffer; send buffers of other ranks are
	 * ignored.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void broadcast(DeviceOperands operands, int root) {
		run(Collective.BROADCAST, operands, NONE, root);
	}

	/**
	 * Every rank receives all ranks' parts in rank order.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 */
	public void allGather(DeviceOperands operands) {
		run(Collective.ALL_GATHER, operands, NONE, 0);
	}

	/**
	 * Every rank receives its own part of the reduction.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param reduction how the operands are combined, the same on every rank
	 */
	public void reduceScatter(DeviceOperands operands, DeviceReduction reduction) {
		run(Collective.REDUCE_SCATTER, operands, reduction, 0);
	}

	/**
	 * The root receives all ranks' parts in rank order.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void gather(DeviceOperands operands, int root) {
		run(Collective.GATHER, operands, NONE, root);
	}

	/**
	 * Every rank receives its own part of the root's send buffer.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param root rank of the root, in {@code 0..worldSize-1}, the same on every rank
	 */
	public void scatter(DeviceOperands operands, int root) {
		run(Collective.SCATTER, operands, NONE, root);
	}

	/**
	 * Every rank receives its part of each rank's send buffer, in rank order.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 */
	public void allToAll(DeviceOperands operands) {
		run(Collective.ALL_TO_ALL, operands, NONE, 0);
	}

	/**
	 * Sends to a peer, whose matching receive has the same count. Messages match in
	 * order.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param peer the other rank, in {@code 0..worldSize-1}
	 */
	public void send(DeviceOperands operands, int peer) {
		message("send", operands, peer, (nccl, communicator) -> nccl.send(operands.send(), operands.sendCount(),
				NcclCodes.of(operands.type()), peer, communicator, this.stream));
	}

	/**
	 * Receives from a peer, whose matching send has the same count. Messages match in
	 * order.
	 * @param operands memory to read and to write, on the communicator's device; not to
	 * be used until the call is complete
	 * @param peer the other rank, in {@code 0..worldSize-1}
	 */
	public void receive(DeviceOperands operands, int peer) {
		message("receive", operands, peer, (nccl, communicator) -> nccl.recv(operands.receive(),
				operands.receiveCount(), NcclCodes.of(operands.type()), peer, communicator, this.stream));
	}

	private void message(String call, DeviceOperands operands, int peer, NcclCommunicator.Issue issue) {
		this.communicator.place().requireRank("peer", peer);
		operands.requireDevice(this.communicator.place().device());
		this.communicator.library().availability().require(operands.type());
		perform(call, issue);
	}

	/**
	 * Issues several calls as one group, so that they run concurrently; messages that
	 * cross need this to avoid a deadlock.
	 * @param calls makes the calls, on the operations passed to it
	 */
	public void group(Consumer<StreamOperations> calls) {
		if (this.group != null) {
			calls.accept(this);
			return;
		}
		GroupedCalls gathered = new GroupedCalls();
		calls.accept(new StreamOperations(this.communicator, this.stream, this.timeout, gathered));
		this.communicator.issue("group call", Deadline.after(this.timeout), gathered);
	}

	/** Runs any collective except a barrier. */
	void run(Collective collective, DeviceOperands operands, DeviceReduction reduction, int root) {
		perform(collective.label(), this.calls.of(collective, operands, reduction, root, this.stream));
	}

	private void perform(String call, NcclCommunicator.Issue issue) {
		if (this.group != null) {
			this.group.add(issue);
			return;
		}
		this.communicator.issue(call, Deadline.after(this.timeout), issue);
	}

	/**
	 * Waits until all work queued on the stream is complete.
	 * @throws NcclException if the communicator failed or was aborted, or if the limit
	 * passed, which aborts it; buffers are then undefined
	 */
	public void synchronize() {
		await("synchronize", Deadline.after(this.timeout));
	}

	/** The default stream is that of the device that the thread has selected. */
	void await(String call, Deadline deadline) {
		boolean done;
		try (SelectedDevice _ = this.communicator.selectDevice()) {
			done = IdleStrategy.await(() -> {
				this.communicator.stillWaiting();
				this.communicator.check(call, deadline);
				return this.communicator.isIdle(call, deadline, this.stream);
			}, deadline);
		}
		if (!done) {
			throw this.communicator.tooLate(call, deadline);
		}
		this.communicator.check(call, deadline);
	}

}
