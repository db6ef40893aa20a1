package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.engine.Collective;
import io.tutti.engine.Deadline;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Collectives and messages of one communicator on one stream. Each returns when NCCL has
 * taken it and runs on the device after what was queued on the stream before;
 * {@link #synchronize} waits for it. An {@link IllegalArgumentException} comes before
 * anything runs, an {@link NcclException} means that the communicator is no more.
 */
public final class StreamOperations {

	private static final DeviceReduction NONE = DeviceReduction.of(ReduceOp.SUM);

	private final Communicator communicator;

	private final CollectiveIssues issues;

	private final RankPlace place;

	private final long stream;

	private final Duration timeout;

	/** Where calls are gathered, {@code null} where each is issued at once. */
	private final @Nullable MessageGroup group;

	StreamOperations(Communicator communicator, NcclLibrary library, RankPlace place, long stream, Duration timeout) {
		this(communicator, new CollectiveIssues(library.availability(), place), place, stream, timeout, null);
	}

	private StreamOperations(Communicator communicator, CollectiveIssues issues, RankPlace place, long stream,
			Duration timeout, @Nullable MessageGroup group) {
		this.communicator = communicator;
		this.issues = issues;
		this.place = place;
		this.stream = stream;
		this.timeout = timeout;
		this.group = group;
	}

	/** The stream's handle. */
	public long stream() {
		return this.stream;
	}

	/** The same on a stream with another limit for each call. */
	public StreamOperations within(Duration limit) {
		return new StreamOperations(this.communicator, this.issues, this.place, this.stream, limit, this.group);
	}

	/** Every rank gets the reduction of all ranks' operands. */
	public void allReduce(DeviceOperands operands, DeviceReduction reduction) {
		run(Collective.ALL_REDUCE, operands, reduction, 0);
	}

	/** As {@link #allReduce(DeviceOperands, DeviceReduction)} of several at once. */
	public void allReduce(List<DeviceOperands> operands, DeviceReduction reduction) {
		group((together) -> operands.forEach((each) -> together.allReduce(each, reduction)));
	}

	/** The root gets the reduction; the others' receive memory is not looked at. */
	public void reduce(DeviceOperands operands, DeviceReduction reduction, int root) {
		run(Collective.REDUCE, operands, reduction, root);
	}

	/** Every rank gets the root's send memory; the others' is not looked at. */
	public void broadcast(DeviceOperands operands, int root) {
		run(Collective.BROADCAST, operands, NONE, root);
	}

	/** Every rank gets all ranks' parts in rank order. */
	public void allGather(DeviceOperands operands) {
		run(Collective.ALL_GATHER, operands, NONE, 0);
	}

	/** Every rank gets its own part of the reduction. */
	public void reduceScatter(DeviceOperands operands, DeviceReduction reduction) {
		run(Collective.REDUCE_SCATTER, operands, reduction, 0);
	}

	/** The root gets all ranks' parts in rank order. */
	public void gather(DeviceOperands operands, int root) {
		run(Collective.GATHER, operands, NONE, root);
	}

	/** Every rank gets its own part of the root's send memory. */
	public void scatter(DeviceOperands operands, int root) {
		run(Collective.SCATTER, operands, NONE, root);
	}

	/** Every rank gets, from each rank, the part meant for it. */
	public void allToAll(DeviceOperands operands) {
		run(Collective.ALL_TO_ALL, operands, NONE, 0);
	}

	/**
	 * Sends to a rank that receives as much at the same place in the order of the two.
	 */
	public void send(DeviceOperands operands, int peer) {
		this.place.requireRank("peer", peer);
		operands.requireDevice(this.place.device());
		perform("send", (nccl, communicator) -> nccl.send(operands.send(), operands.sendCount(),
				NcclCodes.of(operands.type()), peer, communicator, this.stream));
	}

	/** Receives from a rank that sends as much at the same place in the order. */
	public void receive(DeviceOperands operands, int peer) {
		this.place.requireRank("peer", peer);
		operands.requireDevice(this.place.device());
		perform("receive", (nccl, communicator) -> nccl.recv(operands.receive(), operands.receiveCount(),
				NcclCodes.of(operands.type()), peer, communicator, this.stream));
	}

	/**
	 * Issues several calls as one, so that they run together and, as messages that cross
	 * must, do not wait for each other.
	 * @param calls what makes them, on the operations that it is given
	 */
	public void group(Consumer<StreamOperations> calls) {
		if (this.group != null) {
			calls.accept(this);
			return;
		}
		MessageGroup gathered = new MessageGroup();
		calls.accept(
				new StreamOperations(this.communicator, this.issues, this.place, this.stream, this.timeout, gathered));
		this.communicator.issue("group call", Deadline.after(this.timeout), gathered);
	}

	/** Any collective but a barrier. */
	void run(Collective collective, DeviceOperands operands, DeviceReduction reduction, int root) {
		perform(collective.label(), this.issues.of(collective, operands, reduction, root, this.stream));
	}

	private void perform(String call, Communicator.Issue issue) {
		if (this.group != null) {
			this.group.add(issue);
			return;
		}
		this.communicator.issue(call, Deadline.after(this.timeout), issue);
	}

	/**
	 * Waits until everything queued on the stream is done.
	 * @throws NcclException if the communicator failed or was aborted meanwhile, or the
	 * limit passed, after which it is aborted; buffers are then undefined
	 */
	public void synchronize() {
		await("synchronize", Deadline.after(this.timeout));
	}

	void await(String call, Deadline deadline) {
		boolean done = IdleStrategy.await(() -> {
			this.communicator.stillWaiting();
			this.communicator.check(call, deadline);
			return this.communicator.isIdle(call, deadline, this.stream);
		}, deadline);
		if (!done) {
			throw this.communicator.tooLate(call, deadline);
		}
		this.communicator.check(call, deadline);
	}

}
