package io.tutti.engine.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.CollectiveException;

/**
 * Carries out whole collectives for one group. Called by one thread at a time, in issue
 * order.
 */
public interface Backend extends AutoCloseable {

	/** Buffers begin at a page. */
	long BUFFER_ALIGNMENT = 4096;

	/** The name people type and read, such as {@code tcp}. */
	String name();

	/** What carries its data, such as {@code shm}. */
	String transport();

	/**
	 * Carries one call out and returns when this rank's part is done: its buffers may be
	 * reused and its result is there.
	 * @throws CollectiveException if the call failed; the group is then broken
	 */
	void run(Call call);

	/**
	 * Allocates a buffer on which calls are fastest. Every rank calls it in the same
	 * order with the same size. Plain native memory, where nothing is faster.
	 * @param exchange how the ranks agree, by collectives on the group
	 * @return zeros, of that size; usable until the backend is closed
	 * @throws CollectiveException if the group is or becomes broken
	 */
	default MemorySegment allocate(long bytes, MetadataExchange exchange, Deadline deadline) {
		return Arena.ofAuto().allocate(bytes, BUFFER_ALIGNMENT);
	}

	/**
	 * Whether calls may be given addresses in a GPU's memory. A backend that does not
	 * would read and write them as host memory.
	 */
	default boolean takesDeviceMemory() {
		return false;
	}

	/**
	 * Whether a call on this memory may have a rank's part in its place within the whole:
	 * what is sent of an all-gather or gather, what is received of a reduce-scatter or
	 * scatter. Asked only where a call would have it so.
	 * @param address where the whole begins
	 */
	default boolean takesPartsInPlace(long address) {
		return false;
	}

	/**
	 * Wakes a call that waits on another thread, so that it sees that the group is
	 * broken. May be called from any thread, any number of times.
	 */
	void wake();

	/** Gives back connections and memory. */
	@Override
	void close();

}
