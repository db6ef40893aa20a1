package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;

/**
 * A collective call of one group as a library call. A group runs one call at a time, so a
 * single object is reused.
 */
final class MpiCollective extends MpiOperation {

	private static final long PART_ALIGNMENT = 64;

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

	private long receiveAddress;

	/** Own part of a reduce-scatter in place, which MPI would write at the start. */
	private MemorySegment part = MemorySegment.NULL;

	private int count;

	/** The buffers of a failed call, which the library may still read and write. */
	private List<MemorySegment.Scope> kept = List.of();

	MpiCollective(MpiCommunicator communicator, GroupIdentity identity) {
		super(requestMemory());
		this.communicator = communicator;
		this.rank = identity.rank();
		this.worldSize = identity.worldSize();
		this.tables = Arena.ofAuto().allocate(ValueLayout.JAVA_INT, 4L * this.worldSize);
	}

	/** Prepares a call on the thread that will wait for it. */
	void prepare(Call call) {
		this.call = call;
		this.count = (int) call.count();
		if (call.uneven()) {
			fill(0, call.sendCounts());
			fill(2, call.receiveCounts());
		}
		this.sendAddress = call.sendAddress();
		this.receiveAddress = call.receiveAddress();
		placeOwnPart(call);
		reset(Thread.currentThread());
	}

	/**
	 * Selects MPI's in-place variants. Where MPI requires them on all ranks or on none,
	 * all-reduce and all-gather always use them, since our ranks may differ: the operand
	 * is first copied into the receive buffer, as a library does otherwise.
	 */
	private void placeOwnPart(Call call) {
		boolean root = this.rank == call.root();
		switch (call.collective()) {
			case ALL_REDUCE -> sendInPlace(call, call.receiveAddress());
			case ALL_GATHER -> sendInPlace(call, call.receiveAddress() + ownOffset(call.sendBytes()));
			case REDUCE, SCAN, EXCLUSIVE_SCAN -> {
				if (call.sendAddress() == call.receiveAddress() && call.receiveBytes() > 0) {
					this.sendAddress = inPlace();
				}
			}
			case GATHER -> {
				if (root && call.receiveBytes() > 0
						&& call.sendAddress() == call.receiveAddress() + ownOffset(call.sendBytes())) {
					this.sendAddress = inPlace();
				}
			}
			case SCATTER -> {
				if (root && call.sendBytes() > 0
						&& call.receiveAddress() == call.sendAddress() + ownOffset(call.receiveBytes())) {
					this.receiveAddress = inPlace();
				}
			}
			case REDUCE_SCATTER -> {
				if (overlap(call)) {
					this.receiveAddress = partOf(call.receiveBytes());
				}
			}
			case BARRIER, BROADCAST, ALL_TO_ALL -> {
			}
		}
	}

	private void sendInPlace(Call call, long own) {
		if (call.receiveBytes() == 0) {
			return;
		}
		if (call.sendAddress() != own && call.sendBytes() > 0) {
			NativeMemory.copy(call.sendAddress(), own, call.sendBytes());
		}
		this.sendAddress = inPlace();
	}

	private long inPlace() {
		return this.communicator.world().abi().inPlace();
	}

	/** Offset of this rank's part in bytes. */
	private long ownOffset(long partBytes) {
		return this.call.uneven() ? this.tables.getAtIndex(ValueLayout.JAVA_INT, (long) this.worldSize + this.rank)
				* (long) this.call.type().bytes() : this.rank * partBytes;
	}

	/** Also for an empty part, whose address libraries compare nevertheless. */
	private static boolean overlap(Call call) {
		return call.sendBytes() > 0 && call.receiveAddress() >= call.sendAddress()
				&& call.receiveAddress() <= call.sendAddress() + call.sendBytes();
	}

	private long partOf(long bytes) {
		if (this.part.byteSize() < Math.max(1, bytes)) {
			this.part = Arena.ofAuto().allocate(Math.max(1, bytes), PART_ALIGNMENT);
		}
		return this.part.address();
	}

	/** Moves the result to where the caller expects it, on the calling thread. */
	void bringBack(Call call) {
		if (call.collective() == Collective.REDUCE_SCATTER && this.receiveAddress != call.receiveAddress()) {
			NativeMemory.copy(this.receiveAddress, call.receiveAddress(), call.receiveBytes());
		}
	}

	/** Keeps the memory of automatic arenas while the library holds this operation. */
	void keepMemory() {
		this.kept = this.call.memoryScopes();
	}

	private void fill(int table, long[] counts) {
		long displacement = 0;
		for (int i = 0; i < this.worldSize; i++) {
			this.tables.setAtIndex(ValueLayout.JAVA_INT, (long) table * this.worldSize + i, (int) counts[i]);
			this.tables.setAtIndex(ValueLayout.JAVA_INT, (table + 1L) * this.worldSize + i, (int) displacement);
			displacement += counts[i];
		}
	}

	private long table(int table) {
		return this.tables.address() + (long) table * this.worldSize * Integer.BYTES;
	}

	@Override
	boolean begin(MpiCalls calls) {
		MpiWorld world = this.communicator.world();
		Call call = this.call;
		long mpiType = world.abi().type(call.type());
		long comm = this.communicator.handle();
		long receive = this.receiveAddress;
		long send = this.sendAddress;
		boolean uneven = call.uneven();
		long own = uneven ? call.sendCounts()[this.rank] : this.count;
		switch (call.collective()) {
			case BARRIER -> calls.ibarrier.call(comm, request());
			case BROADCAST -> calls.ibcast.call(receive, this.count, mpiType, call.root(), comm, request());
			case ALL_REDUCE ->
				calls.iallreduce.call(send, receive, this.count, mpiType, operator(calls), comm, request());
			case REDUCE ->
				calls.ireduce.call(send, receive, this.count, mpiType, operator(calls), call.root(), comm, request());
			case SCAN -> calls.iscan.call(send, receive, this.count, mpiType, operator(calls), comm, request());
			case EXCLUSIVE_SCAN ->
				calls.iexscan.call(send, receive, this.count, mpiType, operator(calls), comm, request());
			case GATHER -> {
				if (uneven) {
					calls.igatherv.call(send, own, mpiType, receive, table(0), table(1), mpiType, call.root(), comm,
							request());
				}
				else {
					calls.igather.call(send, own, mpiType, receive, own, mpiType, call.root(), comm, request());
				}
			}
			case SCATTER -> {
				if (uneven) {
					calls.iscatterv.call(send, table(0), table(1), mpiType, receive, own, mpiType, call.root(), comm,
							request());
				}
				else {
					calls.iscatter.call(send, own, mpiType, receive, own, mpiType, call.root(), comm, request());
				}
			}
			case ALL_GATHER -> {
				if (uneven) {
					calls.iallgatherv.call(send, own, mpiType, receive, table(0), table(1), mpiType, comm, request());
				}
				else {
					calls.iallgather.call(send, own, mpiType, receive, own, mpiType, comm, request());
				}
			}
			case REDUCE_SCATTER -> {
				if (uneven) {
					calls.ireduceScatter.call(send, receive, table(0), mpiType, operator(calls), comm, request());
				}
				else {
					calls.ireduceScatterBlock.call(send, receive, own, mpiType, operator(calls), comm, request());
				}
			}
			case ALL_TO_ALL -> {
				if (uneven) {
					calls.ialltoallv.call(send, table(0), table(1), mpiType, receive, table(2), table(3), mpiType, comm,
							request());
				}
				else {
					calls.ialltoall.call(send, own, mpiType, receive, own, mpiType, comm, request());
				}
			}
		}
		return true;
	}

	/** An average is reduced as a sum; the backend divides afterwards. */
	private long operator(MpiCalls calls) {
		MpiWorld world = this.communicator.world();
		ReduceOp op = (this.call.op() == ReduceOp.AVERAGE) ? ReduceOp.SUM : this.call.op();
		return world.operators().of(this.call.type(), op, world.abi(), calls);
	}

}
