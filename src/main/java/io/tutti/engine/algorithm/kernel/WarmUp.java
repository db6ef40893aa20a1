package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.function.LongSupplier;

import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;

/**
 * Calls a kernel on small blocks until it is compiled.
 */
final class WarmUp {

	/**
	 * Some two dozen vectors and a tail: the compiler counts calls and turns of the loop,
	 * and this reaches both thresholds together.
	 */
	private static final long BLOCK_BYTES = 24 * 64 + 56;

	/** Calls after which the compiler has been asked for its best code. */
	private static final int MINIMUM_ROUNDS = 1000;

	/**
	 * Nanoseconds for a block that only the best code reaches: it takes 0.05 to 1 µs,
	 * what comes before it 20 µs and more.
	 */
	private static final long COMPILED_NANOS = 5000;

	private WarmUp() {
	}

	static void run(ReductionKernels kernels, DataType type, ReduceOp op, Duration limit, LongSupplier nanoTime) {
		long count = BLOCK_BYTES / type.bytes();
		long start = nanoTime.getAsLong();
		long limitNanos = limit.toNanos();
		try (Arena arena = Arena.ofConfined()) {
			long target = arena.allocate(2 * BLOCK_BYTES).address();
			long roundNanos = Long.MAX_VALUE;
			long now = start;
			for (int round = 0; now - start < limitNanos; round++) {
				if (round >= MINIMUM_ROUNDS && roundNanos < COMPILED_NANOS) {
					return;
				}
				kernels.reduce(type, op, target, target, target + BLOCK_BYTES, count);
				kernels.finish(type, op, target, count, 2);
				long after = nanoTime.getAsLong();
				roundNanos = after - now;
				Thread.yield();
				now = nanoTime.getAsLong();
			}
		}
	}

}
