package io.tutti.training;

import java.lang.foreign.MemorySegment;

import io.tutti.ReduceOp;
import io.tutti.Work;
import org.jspecify.annotations.Nullable;

/**
 * Contiguous memory for gradients on the device of their parameters, and the all-reduce
 * on it. The host may read and write only the segments that {@link #onHost} returns.
 */
interface GradientMemory extends AutoCloseable {

	/** Allocates uninitialised memory for gradients, which {@link #close()} frees. */
	MemorySegment allocate(long bytes);

	/** The segment in main memory where the host reads and writes these values. */
	MemorySegment onHost(MemorySegment numbers);

	/** Copies values from main memory to the gradient memory. */
	void send(MemorySegment onHost, MemorySegment numbers);

	/** Copies values from the gradient memory to main memory. */
	void fetch(MemorySegment numbers, MemorySegment onHost);

	/** Reduces float32 values in place over all ranks, after all work queued so far. */
	void allReduce(MemorySegment gradients, ReduceOp op);

	/**
	 * As {@link #allReduce}, if possible on another thread. Keeps its position in the
	 * group's order of collectives.
	 */
	@Nullable Work<Void> allReduceAsync(MemorySegment gradients, ReduceOp op);

	/** Aborts the group of the ranks that reduce these gradients. */
	void abort(String reason);

	/** Frees all memory. No operation may still use it. */
	@Override
	void close();

}
