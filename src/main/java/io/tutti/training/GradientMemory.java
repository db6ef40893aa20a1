package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.Work;
import org.jspecify.annotations.Nullable;

/**
 * Memory on the device of the gradients, and the all-reduce on it. The host may read and
 * write only the segments that {@link #onHost} returns.
 */
interface GradientMemory extends AutoCloseable {

	/** Whether one call for many gradients in one memory is much faster than a list. */
	boolean prefersPacked();

	/**
	 * Whether reductions during the backward pass make a step faster.
	 * @param coresPerRank cores of this host for each of its ranks
	 */
	boolean overlaps(int coresPerRank);

	/** Allocates uninitialised memory, which {@link #close()} frees. */
	MemorySegment allocate(long bytes);

	/** The segment in main memory where the host reads and writes these values. */
	MemorySegment onHost(MemorySegment numbers);

	/** Copies values from main memory to the gradient memory. */
	void send(MemorySegment onHost, MemorySegment numbers);

	/** Copies values from the gradient memory to main memory. */
	void fetch(MemorySegment numbers, MemorySegment onHost);

	/** Reduces buffers in place over all ranks, after all work queued so far. */
	void allReduce(List<MemorySegment> buffers, DataType type, ReduceOp op);

	/**
	 * As {@link #allReduce}, if possible on another thread. Keeps its position in the
	 * group's order of collectives.
	 */
	@Nullable Work<Void> allReduceAsync(List<MemorySegment> buffers, DataType type, ReduceOp op);

	/** Frees all memory. No operation may still use it. */
	@Override
	void close();

}
