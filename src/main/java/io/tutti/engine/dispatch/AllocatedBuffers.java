package io.tutti.engine.dispatch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.ArgumentMismatchException;
import io.tutti.engine.spi.CallOrigin;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.RefusedCall;
import org.jspecify.annotations.Nullable;

/**
 * The buffers that a group has allocated. Ranks allocate and free in the same order, so
 * an index names the same allocation on every rank.
 */
final class AllocatedBuffers implements AutoCloseable {

	private record Allocation(MemorySegment buffer, Arena arena) {
	}

	private final GroupIdentity identity;

	private final GroupBackend backend;

	private final List<@Nullable Allocation> allocations = new ArrayList<>();

	/** Arenas of freed buffers that were in use, to close later. */
	private final List<Arena> inUse = new ArrayList<>();

	AllocatedBuffers(GroupIdentity identity, GroupBackend backend) {
		this.identity = identity;
		this.backend = backend;
	}

	/**
	 * Allocates a buffer on every rank.
	 * @throws IllegalArgumentException on every rank, if the sizes differ
	 * @throws OutOfMemoryError on every rank, if one of them cannot allocate it
	 */
	synchronized MemorySegment allocate(DefaultProcessGroup group, long bytes) {
		if (bytes < 0) {
			throw new IllegalArgumentException(
					RefusedCall.place(this.identity, "allocate") + "bytes must be at least 0, got " + bytes);
		}
		Deadline deadline = Deadline.after(group.timeout());
		requireSame(group.agree(Agreement.ALLOCATE, bytes), "every rank must allocate the same number of bytes");
		release();
		Arena arena = Arena.ofShared();
		MemorySegment buffer = null;
		try {
			OutOfMemoryError failure = null;
			try {
				buffer = this.backend.allocate(bytes, arena, new GroupExchange(group, Agreement.ALLOCATE), deadline);
			}
			catch (OutOfMemoryError ex) {
				failure = ex;
			}
			requireMemory(group.agree(Agreement.ALLOCATE, (buffer != null) ? 1 : 0).all(), bytes, failure);
			Allocation allocation = new Allocation(Objects.requireNonNull(buffer), arena);
			add(allocation);
			return allocation.buffer();
		}
		catch (RuntimeException | Error ex) {
			if (buffer != null) {
				this.backend.free(buffer);
			}
			arena.close();
			throw ex;
		}
	}

	/**
	 * Requires that every rank has allocated its buffer, so that an index names the same
	 * allocation on every rank.
	 * @param failure this rank's own; the virtual machine's may have no message at all
	 */
	private void requireMemory(long[] allocated, long bytes, @Nullable OutOfMemoryError failure) {
		String without = IntStream.range(0, allocated.length)
			.filter((rank) -> allocated[rank] == 0)
			.mapToObj((rank) -> "rank " + this.identity.members().get(rank))
			.collect(Collectors.joining(", "));
		if (without.isEmpty()) {
			return;
		}
		String detail = (failure == null) ? " on " + without
				: (failure.getMessage() != null) ? ": " + failure.getMessage() : "";
		OutOfMemoryError error = new OutOfMemoryError("rank " + this.identity.worldRank() + ": group "
				+ this.identity.name() + ": allocate: no memory for " + bytes + " bytes" + detail);
		error.initCause(failure);
		throw error;
	}

	/** Takes the place of a freed allocation, the same on every rank. */
	private void add(Allocation allocation) {
		int free = this.allocations.indexOf(null);
		if (free >= 0) {
			this.allocations.set(free, allocation);
		}
		else {
			this.allocations.add(allocation);
		}
	}

	/**
	 * Frees a buffer on every rank.
	 * @throws IllegalArgumentException on every rank, if the ranks free different
	 * allocations or one of them frees none
	 * @throws IllegalStateException if a call of this rank still uses the buffer; its
	 * memory is released by a later {@code free} or {@code allocate}, or by the end of
	 * the group
	 */
	synchronized void free(DefaultProcessGroup group, MemorySegment buffer) {
		if (buffer == null) {
			throw new NullPointerException(RefusedCall.place(this.identity, "free") + "buffer must not be null");
		}
		int index = indexOf(buffer);
		DefaultProcessGroup.Gathered indices = group.agree(Agreement.FREE, index);
		requireSame(indices, "every rank must free the buffer of the same allocation (-1: not an allocated buffer)");
		Allocation freed = (index >= 0) ? this.allocations.set(index, null) : null;
		if (freed == null) {
			throw new IllegalArgumentException(RefusedCall.place(this.identity, "free") + buffer
					+ " is not a buffer that the group has allocated, or it is freed already; pass the segment that allocate returned");
		}
		this.backend.free(freed.buffer());
		this.inUse.add(freed.arena());
		if (!release().isEmpty() && freed.buffer().scope().isAlive()) {
			throw new GroupStateException(CallOrigin.in(this.identity).of(Collective.ALL_GATHER, indices.sequence()),
					"free: a call still uses the buffer of " + freed.buffer().byteSize()
							+ " bytes; its memory is released later: wait for all work on a buffer before you free it",
					null);
		}
	}

	/**
	 * Closes the arenas of freed buffers that no call uses any more.
	 * @return the failures to close the others
	 */
	private List<IllegalStateException> release() {
		List<IllegalStateException> failures = new ArrayList<>();
		this.inUse.removeIf((arena) -> {
			try {
				arena.close();
				return true;
			}
			catch (IllegalStateException ex) {
				failures.add(ex);
				return false;
			}
		});
		return failures;
	}

	private int indexOf(MemorySegment buffer) {
		for (int i = 0; i < this.allocations.size(); i++) {
			Allocation allocation = this.allocations.get(i);
			if (allocation != null && BufferValidation.isSame(allocation.buffer(), buffer)) {
				return i;
			}
		}
		return -1;
	}

	private void requireSame(DefaultProcessGroup.Gathered values, String rule) {
		ArgumentMismatchException.requireSame(this.identity, values.sequence(), (rank) -> values.all()[rank], rule,
				null);
	}

	/**
	 * Frees what is left; no call of this group runs any more. Frees nothing if a failed
	 * one may still use its memory.
	 * @throws IllegalStateException if code outside of this group uses a buffer, which
	 * then stays allocated; the others are freed
	 */
	@Override
	public synchronized void close() {
		if (this.backend.mayStillUseMemory()) {
			return;
		}
		for (Allocation allocation : this.allocations) {
			if (allocation != null) {
				this.inUse.add(allocation.arena());
			}
		}
		this.allocations.clear();
		List<IllegalStateException> failures = release();
		if (!failures.isEmpty()) {
			throw new GroupStateException(CallOrigin.in(this.identity),
					"a buffer of the closed group is in use outside of it", failures.getFirst());
		}
	}

}
