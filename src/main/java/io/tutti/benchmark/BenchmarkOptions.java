package io.tutti.benchmark;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * Options of a benchmark. Must be the same on every rank.
 *
 * @param operations operations to run, in order
 * @param minBytes smallest size of a rank's full buffer, at least one element
 * @param maxBytes largest size of a rank's full buffer, at most 8 GiB
 * @param factor growth of the size from line to line, at least 2
 * @param iterations samples per size, at most a million, 0 for as many as fit into
 * {@code budget}
 * @param warmup untimed samples before the others, at most a million, 0 for a tenth of
 * them
 * @param type element type
 * @param op operator
 * @param buffers where the buffers are allocated
 * @param budget time per size if {@code iterations} is 0
 */
public record BenchmarkOptions(List<Operation> operations, long minBytes, long maxBytes, int factor, int iterations,
		int warmup, DataType type, ReduceOp op, BufferKind buffers, Duration budget) {

	/** Largest buffer that can be requested. */
	private static final long MAX_BYTES = 8L << 30;

	/** Largest number of samples, whose times are kept in memory. */
	private static final int MAX_CALLS = 1_000_000;

	public BenchmarkOptions {
		operations = List.copyOf(operations);
		if (minBytes < type.bytes() || minBytes > maxBytes || maxBytes > MAX_BYTES) {
			throw new IllegalArgumentException("sizes must satisfy " + type.bytes() + " <= min bytes <= max bytes <= "
					+ MAX_BYTES + ", got " + minBytes + " and " + maxBytes);
		}
		if (!op.appliesTo(type)) {
			throw new IllegalArgumentException(op + " needs an integer type, got " + type);
		}
		if (factor < 2) {
			throw new IllegalArgumentException("factor must be at least 2, got " + factor);
		}
		if (iterations < 0 || iterations > MAX_CALLS || warmup < 0 || warmup > MAX_CALLS) {
			throw new IllegalArgumentException(
					"iterations and warm-up must be in 0.." + MAX_CALLS + ", got " + iterations + " and " + warmup);
		}
	}

	/** The sizes to measure, ascending. */
	public List<Long> sizes() {
		return LongStream.iterate(this.minBytes, (bytes) -> bytes <= this.maxBytes, this::next).boxed().toList();
	}

	/** The next size; beyond the largest if the product is, which may overflow. */
	private long next(long bytes) {
		return (bytes > this.maxBytes / this.factor) ? Long.MAX_VALUE : bytes * this.factor;
	}

}
