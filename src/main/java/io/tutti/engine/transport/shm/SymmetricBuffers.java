package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.HostLayout.Line;

/**
 * Buffers that the engine allocated in memory that all ranks of the group map, so that
 * each rank can read and write those of the others in place. A call says on the board in
 * which allocation, and where, its buffer lies.
 */
public final class SymmetricBuffers {

	/** What a call says: number of the allocation, 0 for private memory; place in it. */
	private static final int DESCRIPTOR_BYTES = 2 * Long.BYTES;

	/**
	 * The allocations, in the order in which all ranks made them; replaced whole, since
	 * one may be made while a call runs.
	 */
	private volatile SharedAllocation[] allocations = {};

	private final HostMemory memory;

	private final CallSlots board;

	private final Doorbell doorbell;

	private final WaitPolicy patience;

	private final long descriptor;

	private long passes;

	SymmetricBuffers(HostMemory memory, CallSlots board, Doorbell doorbell, WaitPolicy patience, Arena arena) {
		this.memory = memory;
		this.board = board;
		this.doorbell = doorbell;
		this.patience = patience;
		this.descriptor = arena.allocate(DESCRIPTOR_BYTES, Long.BYTES).address();
	}

	/** Takes an allocation in that all ranks have made. */
	MemorySegment add(SharedAllocation allocation) {
		SharedAllocation[] known = this.allocations;
		SharedAllocation[] more = Arrays.copyOf(known, known.length + 1);
		more[known.length] = allocation;
		this.allocations = more;
		return allocation.part(this.memory.self());
	}

	/**
	 * Posts a call and where its send buffer lies.
	 * @return whether others can reach it there
	 */
	public boolean post(Call call) {
		SharedAllocation[] known = this.allocations;
		long number = 0;
		long offset = 0;
		for (int i = 0; i < known.length; i++) {
			long place = call.sendAddress() - known[i].address(this.memory.self());
			if (place >= 0 && place + call.sendBytes() <= known[i].bytes()) {
				number = i + 1;
				offset = place;
			}
		}
		NativeMemory.putLong(this.descriptor, number);
		NativeMemory.putLong(this.descriptor + Long.BYTES, offset);
		this.board.post(this.descriptor, DESCRIPTOR_BYTES);
		return number > 0;
	}

	/** Whether the send buffer can be reached that a rank which has arrived posted. */
	public boolean reachable(int rank) {
		return number(rank) > 0;
	}

	/** Whether every rank, all having arrived, posted a buffer that can be reached. */
	public boolean allReachable() {
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			if (!reachable(rank)) {
				return false;
			}
		}
		return true;
	}

	/** Where the reachable send buffer of a rank lies in this process. */
	public long address(int rank) {
		long said = this.board.operand(rank, DESCRIPTOR_BYTES);
		return this.allocations[(int) number(rank) - 1].address(rank) + NativeMemory.getLong(said + Long.BYTES);
	}

	private long number(int rank) {
		return NativeMemory.getLong(this.board.operand(rank, DESCRIPTOR_BYTES));
	}

	/** This rank has finished its pass over the others' buffers. */
	public void finish() {
		this.passes++;
		SharedWords.release(this.memory.line(this.memory.self(), Line.FINISHED), this.passes);
		this.doorbell.ringAll();
	}

	/** Waits until all have finished theirs, so that buffers may be touched again. */
	public void awaitFinished() {
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			while (SharedWords.acquire(this.memory.line(rank, Line.FINISHED)) < this.passes) {
				this.patience.stalled();
			}
		}
		this.patience.moved();
	}

	void close() {
		for (SharedAllocation allocation : this.allocations) {
			allocation.close();
		}
	}

}
