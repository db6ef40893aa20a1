package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * The buffers that the ranks of a group have allocated together, so that each rank can
 * access those of the others. A <em>reference</em> is a number by which a rank tells the
 * others a place in its own buffer: it has the same meaning in every process, and that of
 * a freed buffer never leads to a later one. Adding bytes to a reference moves the place.
 */
final class SharedAllocations {

	/** Bits of a reference below the allocation's number: the offset in the buffer. */
	private static final int OFFSET_BITS = 40;

	private static final long MAX_OFFSET = (1L << OFFSET_BITS) - 1;

	private static final long MAX_NUMBER = (1L << (Long.SIZE - 1 - OFFSET_BITS)) - 1;

	/**
	 * One allocation.
	 *
	 * @param number the same on every rank
	 */
	private record Numbered(long number, SharedAllocation allocation) {
	}

	private final int self;

	/** Copy-on-write, since an allocation may be made while a call runs. */
	private volatile Numbered[] known = {};

	private long made;

	SharedAllocations(int self) {
		this.self = self;
	}

	/**
	 * Registers an allocation that all ranks have made. They make them in the same order.
	 * @param arena owns the allocation from now on: closing it unmaps the memory
	 * @return this rank's buffer
	 */
	MemorySegment add(SharedAllocation allocation, Arena arena) {
		// First: the other ranks count an allocation that this rank cannot register.
		long number = this.made++ & MAX_NUMBER;
		MemorySegment own = CleanUp.orElse(() -> owned(allocation.part(this.self), arena, allocation),
				allocation::close);
		Numbered[] more = Arrays.copyOf(this.known, this.known.length + 1);
		more[more.length - 1] = new Numbered(number, allocation);
		this.known = more;
		return own;
	}

	@SuppressWarnings("restricted")
	private static MemorySegment owned(MemorySegment part, Arena arena, SharedAllocation allocation) {
		return part.reinterpret(arena, (ended) -> allocation.close());
	}

	/**
	 * Makes the allocation of a buffer private to this rank, if it is one. Its arena
	 * unmaps it.
	 */
	void free(MemorySegment buffer) {
		this.known = Arrays.stream(this.known)
			.filter((one) -> one.allocation().address(this.self) != buffer.address())
			.toArray(Numbered[]::new);
	}

	/**
	 * The reference to memory of this rank.
	 * @return 0 if the other ranks cannot access all of it; otherwise negative
	 */
	long reference(long address, long bytes) {
		for (Numbered one : this.known) {
			long offset = address - one.allocation().address(this.self);
			if (offset >= 0 && offset + bytes <= one.allocation().bytes() && offset <= MAX_OFFSET) {
				return Long.MIN_VALUE | one.number() << OFFSET_BITS | offset;
			}
		}
		return 0;
	}

	/**
	 * Address in this process of what another rank refers to.
	 * @throws IllegalStateException if this rank has freed the allocation
	 */
	long address(int rank, long reference) {
		SharedAllocation allocation = find(reference);
		if (allocation == null) {
			throw new IllegalStateException("rank " + rank + " uses a buffer that this rank has freed");
		}
		return allocation.address(rank) + (reference & MAX_OFFSET);
	}

	/**
	 * Copies what another rank refers to. Unlike an access by address, it fails if this
	 * rank frees the allocation meanwhile.
	 * @throws IOException if this rank has freed the allocation, or it has no such bytes
	 */
	void copy(int rank, long reference, long address, long bytes) throws IOException {
		SharedAllocation allocation = find(reference);
		long offset = reference & MAX_OFFSET;
		if (allocation == null || bytes < 0 || bytes > allocation.bytes() - offset) {
			throw new IOException("rank " + rank + " refers to memory that is not shared");
		}
		MemorySegment memory = allocation.segment().memory();
		try {
			MemorySegment.copy(memory, allocation.address(rank) - memory.address() + offset, NativeMemory.ALL, address,
					bytes);
		}
		catch (IllegalStateException ex) {
			throw new IOException("the memory was freed", ex);
		}
	}

	private @Nullable SharedAllocation find(long reference) {
		long number = (reference & Long.MAX_VALUE) >> OFFSET_BITS;
		for (Numbered one : this.known) {
			if (one.number() == number) {
				return one.allocation();
			}
		}
		return null;
	}

}
