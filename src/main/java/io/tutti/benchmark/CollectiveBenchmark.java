package io.tutti.benchmark;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * Runs a benchmark on one rank; every rank of the group must run the same.
 * <p>
 * Calls follow each other without a barrier in between. Results are checked in a call
 * before the samples, after one more sample that is not timed, and in a call after it. A
 * sample is one call, or below 64 KiB the mean of at least 16 calls, since reading the
 * clock would distort a single one. Each rank computes the median, minimum and maximum of
 * its samples. The reported values are the maxima over all ranks.
 */
public final class CollectiveBenchmark {

	private static final String SYSTEM = "tutti";

	private static final long SMALL_BYTES = 64 * 1024;

	private static final int SMALL_BATCH = 16;

	private static final int MIN_SAMPLES = 5;

	private static final int MAX_SAMPLES = 4000;

	private static final int TRIAL_SAMPLES = 3;

	/**
	 * Warm-up of a collective's first size, while the JIT compiler needs a core itself.
	 */
	private static final long FIRST_WARM_UP_NANOS = 2_000_000_000L;

	/**
	 * Warm-up of larger sizes, which may select an algorithm that is not compiled yet.
	 */
	private static final long WARM_UP_NANOS = 500_000_000;

	/** Limit of the extra warm-up time, for a JIT compiler that never becomes idle. */
	private static final long EXTRA_WARM_UP_NANOS = 20_000_000_000L;

	private final ProcessGroup group;

	private final BenchmarkOptions options;

	private final CoreBinding binding;

	private final CompilerWatch compiler = CompilerWatch.ofThisJvm();

	/** Extra warm-up time that is left while a JIT compiler is busy. */
	private long extraWarmUpNanos = EXTRA_WARM_UP_NANOS;

	private @Nullable Operation warm;

	/** Lines measured while a JIT compiler was busy. */
	private int linesWhileCompiling;

	/**
	 * @param binding core binding of the calling thread during measurements
	 */
	public CollectiveBenchmark(ProcessGroup group, BenchmarkOptions options, CoreBinding binding) {
		this.group = group;
		this.options = options;
		this.binding = binding;
	}

	/**
	 * Runs every collective at every size, at sizes that are rounded to the same one
	 * once.
	 * @param results receives each line as soon as it is known, the same on every rank
	 * @throws io.tutti.CollectiveException if a collective fails
	 */
	public void run(Consumer<Measurement> results) {
		this.binding.during(() -> runBound(results));
	}

	/**
	 * A warning for the user, {@code null} if no JIT compiler was busy after the warm-up.
	 */
	public @Nullable String note() {
		return (this.linesWhileCompiling == 0) ? null : "before " + this.linesWhileCompiling
				+ " lines a JIT compiler was busy at the end of the longest warm-up: their times may be too long";
	}

	private void runBound(Consumer<Measurement> results) {
		long largest = Math.max(this.options.maxBytes(), (long) this.options.type().bytes() * this.group.worldSize());
		try (Buffers buffers = new Buffers(this.group, this.options.buffers(), largest)) {
			for (Operation operation : this.options.operations()) {
				long last = -1;
				for (long bytes : this.options.sizes()) {
					Workload workload = new Workload(this.group, operation, this.options.type(), this.options.op(),
							bytes, buffers);
					if (workload.bytes() != last) {
						results.accept(measure(workload));
					}
					last = workload.bytes();
				}
			}
			buffers.free();
		}
	}

	private Measurement measure(Workload workload) {
		long wrong = workload.check();
		int batch = batch(workload);
		int samples = plan(workload, batch);
		double[] micros = sample(workload, batch, samples);
		wrong += workload.inPlace() ? 0 : wrongInSample(workload, batch);
		wrong = sum(wrong + workload.check());
		double[] slowest = slowest(micros);
		return new Measurement(SYSTEM, workload.transport(), workload.operation(), this.group.worldSize(),
				workload.bytes(), workload.count(), slowest[0], slowest[1], slowest[2], samples, wrong);
	}

	/** Calls per sample. The peers' programs choose it in the same way. */
	private int batch(Workload workload) {
		int ranks = this.group.worldSize();
		if (workload.bytes() < SMALL_BYTES) {
			return Math.max(SMALL_BATCH, ranks);
		}
		return workload.operation().isRooted() ? ranks : 1;
	}

	/**
	 * Returns the number of samples. If the user set it, the user also sets the warm-up.
	 * Otherwise warms up, and rank 0 broadcasts how many samples fit into the time
	 * budget.
	 */
	private int plan(Workload workload, int batch) {
		if (this.options.iterations() > 0) {
			return this.options.iterations();
		}
		warmUp(workload, batch);
		long start = System.nanoTime();
		for (int i = 0; i < TRIAL_SAMPLES; i++) {
			call(workload, batch);
		}
		double estimate = Math.max(1, (System.nanoTime() - start) / (double) TRIAL_SAMPLES);
		long[] samples = { Math.clamp((long) (this.options.budget().toNanos() / estimate), MIN_SAMPLES, MAX_SAMPLES) };
		this.group.broadcast(MemorySegment.ofArray(samples), DataType.INT64, 0);
		return (int) samples[0];
	}

	/**
	 * Warms up until the JIT compiler is idle on every rank, up to a limit. The ranks
	 * agree on whether to continue and whether a compiler is busy.
	 */
	private void warmUp(Workload workload, int batch) {
		long limit = (workload.operation() != this.warm) ? FIRST_WARM_UP_NANOS : WARM_UP_NANOS;
		this.warm = workload.operation();
		long start = System.nanoTime();
		long[] warming = { 1, 1 };
		while (warming[0] == 1) {
			call(workload, batch);
			long elapsed = System.nanoTime() - start;
			boolean busy = this.compiler.busy();
			warming[0] = (elapsed < limit || elapsed < limit + this.extraWarmUpNanos && busy) ? 1 : 0;
			warming[1] = busy ? 1 : 0;
			this.group.allReduce(warming, ReduceOp.MAX);
		}
		this.linesWhileCompiling += (int) warming[1];
		this.extraWarmUpNanos = Math.max(0, this.extraWarmUpNanos - Math.max(0, System.nanoTime() - start - limit));
	}

	private double[] sample(Workload workload, int batch, int samples) {
		int warmup = (this.options.warmup() > 0) ? this.options.warmup() : samples / 10;
		for (int i = 0; i < warmup; i++) {
			call(workload, batch);
		}
		double[] micros = new double[samples];
		this.group.barrier();
		for (int i = 0; i < samples; i++) {
			long before = System.nanoTime();
			call(workload, batch);
			micros[i] = (System.nanoTime() - before) / 1e3 / batch;
		}
		return micros;
	}

	/** Number of wrong elements after the calls of one more sample. */
	private static long wrongInSample(Workload workload, int batch) {
		workload.poison();
		call(workload, batch);
		return workload.wrongAfter(batch - 1);
	}

	private static void call(Workload workload, int batch) {
		for (int i = 0; i < batch; i++) {
			workload.call(i);
		}
	}

	private double[] slowest(double[] micros) {
		Arrays.sort(micros);
		double[] figures = { micros[micros.length / 2], micros[0], micros[micros.length - 1] };
		this.group.allReduce(figures, ReduceOp.MAX);
		return figures;
	}

	private long sum(long value) {
		long[] total = { value };
		this.group.allReduce(total, ReduceOp.SUM);
		return total[0];
	}

}
