package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * Calls a kernel on small blocks until it is compiled.
 */
record WarmUp(ReductionKernels kernels, LongSupplier nanoTime) {

	/**
	 * 24 vectors and a tail: the compiler counts calls and loop iterations, and this size
	 * reaches both thresholds together.
	 */
	private static final long BLOCK_BYTES = 24 * 64 + 56;

	/** Number of calls after which the top-tier compilation is queued. */
	private static final int ROUNDS = 1000;

	/**
	 * Only top-tier code processes a block in less: it takes 0.05 to 1 µs, lower tiers 20
	 * µs and more.
	 */
	private static final long COMPILED_NANOS = 5000;

	/** Processor time left to the compiler between measurements. */
	private static final long PAUSE_NANOS = 1_000_000;

	void run(DataType type, ReduceOp op, Duration limit) {
		long start = this.nanoTime.getAsLong();
		try (Arena arena = Arena.ofConfined()) {
			long block = arena.allocate(2 * BLOCK_BYTES).address();
			for (int round = 0; this.nanoTime.getAsLong() - start < limit.toNanos(); round++) {
				long roundNanos = time(type, op, block);
				if (round < ROUNDS) {
					Thread.yield();
					continue;
				}
				if (roundNanos < COMPILED_NANOS) {
					return;
				}
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
	}

	private long time(DataType type, ReduceOp op, long block) {
		long count = BLOCK_BYTES / type.bytes();
		long start = this.nanoTime.getAsLong();
		this.kernels.reduce(type, op, block, block, block + BLOCK_BYTES, count);
		this.kernels.finish(type, op, block, count, 2);
		return this.nanoTime.getAsLong() - start;
	}

}
