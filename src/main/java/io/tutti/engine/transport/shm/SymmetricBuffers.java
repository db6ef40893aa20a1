package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * Engine-allocated buffers in memory that all ranks of the group map, so that each rank
 * can access the buffers of the others in place. A call posts the allocation number and
 * the offset of its buffer in the call slots.
 */
public final class SymmetricBuffers {

	/** A posted buffer: number of the allocation, 0 for private memory; offset in it. */
	private static final int DESCRIPTOR_BYTES = 2 * Long.BYTES;

	/**
	 * The allocations, at the same index on every rank; {@code null} for a freed one.
	 * Copy-on-write, since an allocation may be made while a call runs.
	 */
	private volatile @Nullable SharedAllocation[] allocations = {};

	private final HostMemory memory;

	private final CallSlots slots;

	private final Doorbell doorbell;

	private final WaitPolicy waiting;

	private final long descriptor;

	private long passes;

	SymmetricBuffers(HostMemory memory, CallSlots slots, Doorbell doorbell, WaitPolicy waiting, Arena arena) {
		this.memory = memory;
		this.slots = slots;
		this.doorbell = doorbell;
		this.waiting = waiting;
		this.descriptor = arena.allocate(DESCRIPTOR_BYTES, Long.BYTES).address();
	}

	/**
	 * Registers an allocation that all ranks have made.
	 * @param arena owns the allocation from now on: closing it unmaps the memory
	 */
	MemorySegment add(SharedAllocation allocation, Arena arena) {
		int free = Arrays.asList(this.allocations).indexOf(null);
		int index = (free >= 0) ? free : this.allocations.length;
		@Nullable SharedAllocation[] more = Arrays.copyOf(this.allocations, Math.max(this.allocations.length, index + 1));
		more[index] = allocation;
		this.allocations = more;
		return owned(allocation.part(this.memory.self()), arena, allocation);
	}

	@SuppressWarnings("restricted")
	private static MemorySegment owned(MemorySegment part, Arena arena, SharedAllocation allocation) {
		return part.reinterpret(arena, (ended) -> allocation.close());
	}

	/**
	 * Makes the allocation that a buffer belongs to, if it belongs to one, private to
	 * this rank. Its arena unmaps it.
	 */
	void free(MemorySegment buffer) {
		@Nullable SharedAllocation[] fewer = this.allocations.clone();
		for (int i = 0; i < fewer.length; i++) {
			SharedAllocation allocation = fewer[i];
			if (allocation != null && allocation.address(this.memory.self()) == buffer.address()) {
				fewer[i] = null;
				this.allocations = fewer;
			}
		}
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
		@Nullable SharedAllocation[] known = this.allocations;
		int number = number(known, address, bytes);
		SharedAllocation allocation = (number > 0) ? known[number - 1] : null;
		long offset = (allocation != null) ? address - allocation.address(this.memory.self()) : 0;
		NativeMemory.putLong(this.descriptor, number);
		NativeMemory.putLong(this.descriptor + Long.BYTES, offset);
		this.slots.post(this.descriptor, DESCRIPTOR_BYTES);
		return number > 0;
	}

	/** Whether the other ranks can access a buffer of this rank in place. */
	public boolean contain(long address, long bytes) {
		return number(this.allocations, address, bytes) > 0;
	}

	/**
	 * Number of the allocation that holds a buffer of this rank, 0 for private memory.
	 */
	private int number(@Nullable SharedAllocation[] known, long address, long bytes) {
		for (int i = 0; i < known.length; i++) {
			SharedAllocation allocation = known[i];
			if (allocation != null) {
				long offset = address - allocation.address(this.memory.self());
				if (offset >= 0 && offset + bytes <= allocation.bytes()) {
					return i + 1;
				}
			}
		}
		return 0;
	}

	/** Whether the send buffer that an arrived rank posted is accessible in place. */
	public boolean reachable(int rank) {
		return number(rank) > 0;
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
		while (SharedWords.read(this.memory.line(rank, Line.FAILED)) != 0) {
			this.waiting.stalled();
		}
	}

	/** Address of a rank's accessible send buffer in this process. */
	public long address(int rank) {
		SharedAllocation allocation = Objects.requireNonNull(this.allocations[(int) number(rank) - 1]);
		return allocation.address(rank) + NativeMemory.getLong(this.slots.operand(rank, DESCRIPTOR_BYTES) + Long.BYTES);
	}

	private long number(int rank) {
		return NativeMemory.getLong(this.slots.operand(rank, DESCRIPTOR_BYTES));
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
