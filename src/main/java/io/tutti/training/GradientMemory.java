package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.ReduceOp;

/**
 * Where gradients lie side by side, on the device of their parameters, and how they are
 * combined there. A segment of it is for the host to read and write only where
 * {@link #onHost} says so.
 */
interface GradientMemory extends AutoCloseable {

	/** Memory for gradients, undefined at first, to be given back all together. */
	MemorySegment allocate(long bytes);

	/** The place in main memory where some of the numbers are written and read. */
	MemorySegment onHost(MemorySegment numbers);

	/** Takes what was written in main memory to where it is combined. */
	void send(MemorySegment onHost, MemorySegment numbers);

	/** Takes what was combined back to main memory. */
	void fetch(MemorySegment numbers, MemorySegment onHost);

	/** Replaces float32 by all ranks' reduction; what was computed before is in it. */
	void allReduce(MemorySegment gradients, ReduceOp op);

	/**
	 * As {@link #allReduce}, at this place in the group's order and if possible on
	 * another thread.
	 */
	CompletableFuture<Void> allReduceAsync(MemorySegment gradients, ReduceOp op);

	/** Gives all memory back; nobody works in it any more. */
	@Override
	void close();

}
