package io.tutti.engine.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * Executes whole collectives for one group. Called by one thread at a time, in issue
 * order.
 */
public interface GroupBackend extends AutoCloseable {

	/** Buffers are page-aligned. */
	long BUFFER_ALIGNMENT = 4096;

	/** The name in configuration and output, such as {@code tcp}. */
	String name();

	/** Name of the transport that carries its data, such as {@code shm}. */
	String transport();

	/**
	 * Executes one call and returns when this rank's part is done: its buffers may be
	 * reused and its result is complete.
	 * @throws CollectiveException if the call failed; the group is then broken
	 */
	void run(Call call);

	/**
	 * Allocates a buffer on which calls are fastest. Every rank calls it in the same
	 * order with the same size. The default is plain native memory of the arena.
	 * @param arena open until the buffer is freed or the group is closed
	 * @param exchange exchanges metadata between the ranks, by collectives on the group
	 * @return a zeroed buffer of that size
	 * @throws CollectiveException if the group is or becomes broken
	 */
	default MemorySegment allocate(long bytes, Arena arena, MetadataExchange exchange, Deadline deadline) {
		return arena.allocate(bytes, BUFFER_ALIGNMENT);
	}

	/**
	 * Forgets a buffer of {@link #allocate}, whose arena the caller closes afterwards.
	 * Every rank calls it in the same order; no call uses the buffer any more.
	 */
	default void free(MemorySegment buffer) {
	}

	/**
	 * Whether calls may use addresses in GPU memory. A backend that returns {@code false}
	 * would access them as host memory.
	 */
	default boolean takesDeviceMemory() {
		return false;
	}

	/**
	 * The largest {@linkplain Call#count() count} of a call or a message, and sum of the
	 * counts of the parts of an uneven call. A call beyond it is rejected before it has a
	 * sequence number.
	 */
	default long largestCount() {
		return Long.MAX_VALUE;
	}

	/** The largest tag of a message. */
	default int largestTag() {
		return Integer.MAX_VALUE;
	}

	/**
	 * Checks that a call can run on this memory. Called before the call has a sequence
	 * number, so that a rejected call leaves the group usable. Sizes and overlaps are
	 * checked separately.
	 * @param send buffer to read; empty if this rank reads nothing
	 * @param receive buffer to write; empty if this rank writes nothing
	 * @param op operator, {@code null} without a reduction
	 * @param uneven whether the parts of the ranks differ in size
	 * @throws IllegalArgumentException if this memory cannot be used in this group
	 * @throws UnsupportedOperationException if the call is not supported on this memory
	 */
	default void requireSupported(Collective collective, MemorySegment send, MemorySegment receive,
			@Nullable ReduceOp op, boolean uneven) {
	}

	/**
	 * Checks that a message can be sent from or received into this memory. Called before
	 * anything is sent.
	 * @throws UnsupportedOperationException if it is not host memory
	 */
	default void requireMessageMemory(MemorySegment buffer) {
	}

	/**
	 * Whether a call or message that has failed may still read and write its memory. The
	 * group then frees none of its memory.
	 */
	default boolean mayStillUseMemory() {
		return false;
	}

	/**
	 * Wakes a call that waits on another thread, so that it detects that the group is
	 * broken. May be called from any thread, any number of times.
	 */
	void wake();

	/** Releases connections and memory. */
	@Override
	void close();

}
