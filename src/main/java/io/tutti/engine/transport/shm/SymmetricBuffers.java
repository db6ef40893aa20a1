package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.HostLayout.Line;

/**
 * Engine-allocated buffers in memory that all ranks of the group map, so that each rank
 * can access the buffers of the others in place. A call posts the reference to its buffer
 * in the call slots, 0 for private memory.
 */
public final class SymmetricBuffers {

	private final HostMemory memory;

	private final CallSlots slots;

	private final Doorbell doorbell;

	private final WaitPolicy waiting;

	/** What this rank posts. */
	private final long reference;

	private long passes;

	SymmetricBuffers(HostMemory memory, CallSlots slots, Doorbell doorbell, WaitPolicy waiting, Arena arena) {
		this.memory = memory;
		this.slots = slots;
		this.doorbell = doorbell;
		this.waiting = waiting;
		this.reference = arena.allocate(Long.BYTES, Long.BYTES).address();
	}

	/**
	 * Posts a call and the location of its send buffer.
	 * @return whether the other ranks can access it in place
	 */
	public boolean post(Call call) {
		return post(call.sendAddress(), call.sendBytes());
	}

	/**
	 * Posts a call and the location of one of its buffers.
	 * @return whether the other ranks can access it in place
	 */
	public boolean post(long address, long bytes) {
		long own = this.memory.allocations().reference(address, bytes);
		NativeMemory.putLong(this.reference, own);
		this.slots.post(this.reference, Long.BYTES);
		return own != 0;
	}

	/** Whether the other ranks can access a buffer of this rank in place. */
	public boolean contain(long address, long bytes) {
		return this.memory.allocations().reference(address, bytes) != 0;
	}

	/** Whether the send buffer that an arrived rank posted is accessible in place. */
	public boolean reachable(int rank) {
		return posted(rank) != 0;
	}

	/**
	 * Whether every rank has posted an accessible buffer; all ranks must have arrived.
	 */
	public boolean allReachable() {
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			if (!reachable(rank)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Checks that a rank was still in the call after this rank has read its buffer. A
	 * rank whose call has failed has broken the group: waits for the verdict.
	 */
	public void requireUnchanged(int rank) {
		// The buffer is read by plain loads, which must not pass the load of the line.
		VarHandle.acquireFence();
		while (SharedWords.read(this.memory.line(rank, Line.FAILED)) != 0) {
			this.waiting.stalled();
		}
	}

	/** Address of a rank's accessible send buffer in this process. */
	public long address(int rank) {
		return this.memory.allocations().address(rank, posted(rank));
	}

	private long posted(int rank) {
		return NativeMemory.getLong(this.slots.operand(rank, Long.BYTES));
	}

	/** Publishes that this rank has finished its pass over the other ranks' buffers. */
	public void finish() {
		this.passes++;
		SharedWords.release(this.memory.line(this.memory.self(), Line.FINISHED), this.passes);
		this.doorbell.ringAll();
	}

	/**
	 * Waits until all ranks have finished their pass, so that the buffers may be modified
	 * again.
	 */
	public void awaitFinished() {
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			while (SharedWords.acquire(this.memory.line(rank, Line.FINISHED)) < this.passes) {
				this.waiting.stalled();
			}
			requireUnchanged(rank);
		}
		this.waiting.moved();
	}

}
