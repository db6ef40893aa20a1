package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;

/**
 * A collective call of one group as a library call. A group runs one call at a time, so a
 * single object is reused.
 */
final class MpiCollective extends MpiOperation {

	private final MpiCommunicator communicator;

	private final int rank;

	private final int worldSize;

	/**
	 * Counts and displacements of an uneven call: send counts, send displacements,
	 * receive counts, receive displacements.
	 */
	private final MemorySegment tables;

	private Call call;

	private long sendAddress;

	private int count;

	MpiCollective(MpiCommunicator communicator, GroupIdentity identity) {
		this.communicator = communicator;
		this.rank = identity.rank();
		this.worldSize = identity.worldSize();
		this.tables = Arena.ofAuto().allocate(ValueLayout.JAVA_INT, 4L * this.worldSize);
	}

	/**
	 * Prepares a call on the thread that will wait for it.
	 * @throws IllegalArgumentException if an element count exceeds 2³¹ − 1
	 */
	void prepare(Call call) {
		this.call = call;
		this.count = requireInt(call.count());
		boolean inPlace = call.sendAddress() == call.receiveAddress() && call.receiveBytes() > 0;
		this.sendAddress = inPlace ? this.communicator.world().abi().inPlace() : call.sendAddress();
		if (call.uneven()) {
			fill(0, call.sendCounts());
			fill(2, call.receiveCounts());
		}
		reset(Thread.currentThread());
	}

	private void fill(int table, long[] counts) {
		long displacement = 0;
		for (int i = 0; i < this.worldSize; i++) {
			this.tables.setAtIndex(ValueLayout.JAVA_INT, (long) table * this.worldSize + i, requireInt(counts[i]));
			this.tables.setAtIndex(ValueLayout.JAVA_INT, (table + 1L) * this.worldSize + i, requireInt(displacement));
			displacement += counts[i];
		}
	}

	private static int requireInt(long count) {
		if (count > Integer.MAX_VALUE) {
			throw new IllegalArgumentException(
					"an MPI library accepts 0.." + Integer.MAX_VALUE + " elements per call, got " + count);
		}
		return (int) count;
	}

	private long table(int table) {
		return this.tables.address() + (long) table * this.worldSize * Integer.BYTES;
	}

	@Override
	boolean begin(MpiCalls calls) {
		MpiWorld world = this.communicator.world();
		Call call = this.call;
		DataType type = call.type();
		long mpiType = world.abi().type(type);
		long comm = this.communicator.handle();
		long receive = call.receiveAddress();
		switch (call.collective()) {
			case BARRIER -> calls.ibarrier(comm, request());
			case BROADCAST -> calls.ibcast(receive, this.count, mpiType, call.root(), comm, request());
			case ALL_REDUCE -> calls.iallreduce(this.sendAddress, receive, this.count, mpiType,
					operator(calls, type, call.op()), comm, request());
			case REDUCE -> calls.ireduce(this.sendAddress, receive, this.count, mpiType,
					operator(calls, type, call.op()), call.root(), comm, request());
			case SCAN -> calls.iscan(this.sendAddress, receive, this.count, mpiType, operator(calls, type, call.op()),
					comm, request());
			case EXCLUSIVE_SCAN -> calls.iexscan(this.sendAddress, receive, this.count, mpiType,
					operator(calls, type, call.op()), comm, request());
			case GATHER -> gather(calls, mpiType, comm, receive);
			case SCATTER -> scatter(calls, mpiType, comm, receive);
			case ALL_GATHER -> allGather(calls, mpiType, comm, receive);
			case REDUCE_SCATTER -> reduceScatter(calls, mpiType, comm, receive);
			case ALL_TO_ALL -> allToAll(calls, mpiType, comm, receive);
		}
		return true;
	}

	private void gather(MpiCalls calls, long type, long comm, long receive) {
		if (this.call.uneven()) {
			calls.igatherv(this.call.sendAddress(), (int) this.call.sendCounts()[this.rank], receive, table(0),
					table(1), type, this.call.root(), comm, request());
			return;
		}
		calls.igather(this.call.sendAddress(), receive, this.count, type, this.call.root(), comm, request());
	}

	private void scatter(MpiCalls calls, long type, long comm, long receive) {
		if (this.call.uneven()) {
			calls.iscatterv(this.call.sendAddress(), table(0), table(1), receive,
					(int) this.call.sendCounts()[this.rank], type, this.call.root(), comm, request());
			return;
		}
		calls.iscatter(this.call.sendAddress(), receive, this.count, type, this.call.root(), comm, request());
	}

	private void allGather(MpiCalls calls, long type, long comm, long receive) {
		if (this.call.uneven()) {
			calls.iallgatherv(this.call.sendAddress(), (int) this.call.sendCounts()[this.rank], receive, table(0),
					table(1), type, comm, request());
			return;
		}
		calls.iallgather(this.call.sendAddress(), receive, this.count, type, comm, request());
	}

	private void reduceScatter(MpiCalls calls, long type, long comm, long receive) {
		long op = operator(calls, this.call.type(), this.call.op());
		if (this.call.uneven()) {
			calls.ireduceScatter(this.call.sendAddress(), receive, table(0), type, op, comm, request());
			return;
		}
		calls.ireduceScatterBlock(this.call.sendAddress(), receive, this.count, type, op, comm, request());
	}

	private void allToAll(MpiCalls calls, long type, long comm, long receive) {
		if (this.call.uneven()) {
			calls.ialltoallv(this.call.sendAddress(), table(0), table(1), receive, table(2), table(3), type, comm,
					request());
			return;
		}
		calls.ialltoall(this.call.sendAddress(), receive, this.count, type, comm, request());
	}

	/** An average is reduced as a sum; the backend divides afterwards. */
	private long operator(MpiCalls calls, DataType type, ReduceOp op) {
		MpiWorld world = this.communicator.world();
		return world.operators().of(type, (op == ReduceOp.AVERAGE) ? ReduceOp.SUM : op, world.abi(), calls);
	}

}
