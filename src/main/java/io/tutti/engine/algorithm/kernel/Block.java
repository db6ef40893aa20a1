package io.tutti.engine.algorithm.kernel;

import io.tutti.engine.ReduceOp;

/**
 * A block of elements on the heap, where the compiler vectorises plain loops by itself.
 */
interface Block {

	/** Bytes of native memory that one block takes. */
	int BYTES = 8 * 1024;

	/** Combines one block's worth of elements or less. */
	void reduce(ReduceOp op, long target, long left, long right, int count);

	/** Divides one block's worth of elements or less. */
	void divide(long target, int count, int divisor);

}
