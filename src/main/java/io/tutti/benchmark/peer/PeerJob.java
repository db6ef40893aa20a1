package io.tutti.benchmark.peer;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.Operation;

/**
 * The measurement that every peer runs.
 *
 * @param options operations, sizes and samples, as for this system's own ranks
 * @param ranks world size, all on this host
 * @param sharedMemory whether ranks may use shared memory, or TCP only
 * @param congestionControl of TCP connections, {@code system} to leave it alone
 * @param bound whether each rank is bound to a core, as this system's own ranks
 */
public record PeerJob(BenchmarkOptions options, int ranks, boolean sharedMemory, String congestionControl,
		boolean bound) {

	/** Time limit for the start; each line adds {@link #LINE}. */
	private static final Duration START = Duration.ofSeconds(30);

	/**
	 * Time for a line, in which each of Gloo's five algorithms for an all-reduce warms up
	 * for half a second.
	 */
	private static final Duration LINE = Duration.ofSeconds(8);

	/** Assumed speed of the slowest peer over all calls of a line. */
	private static final long SLOWEST_BYTES_PER_MILLI = 10_000;

	/** Number of samples that fits into the time limit of a line. */
	private static final int USUAL_SAMPLES = 100;

	public PeerJob {
		if (options.type() != DataType.FLOAT32 || options.op() != ReduceOp.SUM) {
			throw new IllegalArgumentException("peers are compared by sums of float32 only, got " + options.op()
					+ " of " + options.type().label());
		}
	}

	/** The common arguments of all peers' programs. */
	List<String> arguments() {
		return List.of(this.options.operations().stream().map(Operation::label).collect(Collectors.joining(",")),
				this.options.sizes().stream().map(String::valueOf).collect(Collectors.joining(",")),
				String.valueOf(this.options.budget().toMillis()), String.valueOf(this.options.iterations()),
				String.valueOf(this.options.warmup()));
	}

	/** How long one run of a peer's program may take before it is killed. */
	Duration limit() {
		Duration lines = LINE.multipliedBy(this.options.sizes().size())
			.plusMillis(this.options.sizes().stream().mapToLong(Long::longValue).sum() / SLOWEST_BYTES_PER_MILLI);
		int samples = Math.max(USUAL_SAMPLES, this.options.iterations() + this.options.warmup());
		return START
			.plus(lines.multipliedBy(this.options.operations().size()).multipliedBy(samples).dividedBy(USUAL_SAMPLES));
	}

}
