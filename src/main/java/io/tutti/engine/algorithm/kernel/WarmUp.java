package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;

/**
 * Calls a kernel on small blocks until it is compiled.
 */
final class WarmUp {

	/**
	 * Two dozen vectors and a tail: the compiler counts calls and turns of the loop, and
	 * this reaches both thresholds together.
	 */
	private static final long BLOCK_BYTES = 24 * 64 + 56;

	/** Calls after which the compiler has been asked for its best code. */
	private static final int ROUNDS = 1000;

	/**
	 * Nanoseconds for a block that only the best code reaches: it takes 0.05 to 1 µs,
	 * what comes before it 20 µs and more.
	 */
	private static final long COMPILED_NANOS = 5000;

	/** How long the processor is left to the compiler between looks. */
	private static final long PAUSE_NANOS = 1_000_000;

	private final ReductionKernels kernels;

	private final LongSupplier nanoTime;

	WarmUp(ReductionKernels kernels, LongSupplier nanoTime) {
		this.kernels = kernels;
		this.nanoTime = nanoTime;
	}

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
