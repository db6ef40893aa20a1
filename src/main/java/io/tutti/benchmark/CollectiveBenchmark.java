package io.tutti.benchmark;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Consumer;

import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * Runs a benchmark on one rank; every rank of the group must run the same.
 * <p>
 * Calls follow each other with no barrier between. A sample is one call, or the mean of
 * 16 below 64 KiB, where a look at the clock would show. Each rank takes the median and
 * the extremes of its samples; the largest over the ranks are the figures.
 */
public final class CollectiveBenchmark {

	private static final String SYSTEM = "tutti";

	private static final long SMALL_BYTES = 64 * 1024;

	private static final int SMALL_BATCH = 16;

	private static final int MIN_SAMPLES = 5;

	private static final int MAX_SAMPLES = 4000;

	private static final int TRIAL_SAMPLES = 3;

	/**
	 * The first size of a collective waits for the compiler, which needs a core itself.
	 */
	private static final long FIRST_WARM_UP_NANOS = 2_000_000_000L;

	/** A larger size may be the first of an algorithm that is not compiled yet. */
	private static final long WARM_UP_NANOS = 500_000_000;

	/** Compilers that never come to rest must not keep a benchmark from its end. */
	private static final long PATIENCE_NANOS = 20_000_000_000L;

	private final ProcessGroup group;

	private final BenchmarkOptions options;

	private final CoreBinding binding;

	private final CompilerWatch compiler = CompilerWatch.ofThisJvm();

	/** How much longer warm-ups may take while a compiler is at work. */
	private long patienceNanos = PATIENCE_NANOS;

	private @Nullable Operation warm;

	/**
	 * @param binding where the calling thread is kept while it measures
	 */
	public CollectiveBenchmark(ProcessGroup group, BenchmarkOptions options, CoreBinding binding) {
		this.group = group;
		this.options = options;
		this.binding = binding;
	}

	/**
	 * Runs every collective at every size.
	 * @param results hears each line as soon as it is known, the same on every rank
	 * @throws io.tutti.engine.CollectiveException if a collective fails
	 */
	public void run(Consumer<Measurement> results) {
		this.binding.during(() -> runBound(results));
	}

	private void runBound(Consumer<Measurement> results) {
		long largest = Math.max(this.options.maxBytes(), (long) this.options.type().bytes() * this.group.worldSize());
		try (Buffers buffers = new Buffers(this.group, this.options.buffers(), largest)) {
			for (Operation operation : this.options.operations()) {
				if (operation == Operation.BARRIER) {
					results.accept(measure(operation, 0, buffers));
					continue;
				}
				for (long bytes : this.options.sizes()) {
					results.accept(measure(operation, bytes, buffers));
				}
			}
		}
	}

	private Measurement measure(Operation operation, long bytes, Buffers buffers) {
		Workload workload = new Workload(this.group, operation, this.options.type(), this.options.op(), bytes, buffers);
		long wrong = sum(workload.check());
		workload.reset();
		int batch = (bytes < SMALL_BYTES) ? Math.max(SMALL_BATCH, this.group.worldSize()) : this.group.worldSize();
		if (bytes >= SMALL_BYTES && !workload.rooted()) {
			batch = 1;
		}
		int samples = plan(workload, batch);
		double[] micros = sample(workload, batch, samples);
		wrong += sum(workload.check());
		double[] slowest = slowest(micros);
		return new Measurement(SYSTEM, workload.transport(), operation, this.group.worldSize(), workload.bytes(),
				workload.count(), slowest[0], slowest[1], slowest[2], samples, wrong);
	}

	/**
	 * Who says how many samples says how many calls go ahead, too. Else warms up, then
	 * lets rank 0 say how many samples fill the time.
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

	/** Long enough for the compiler on every rank, within reason. */
	private void warmUp(Workload workload, int batch) {
		long limit = (workload.operation() != this.warm) ? FIRST_WARM_UP_NANOS : WARM_UP_NANOS;
		this.warm = workload.operation();
		long start = System.nanoTime();
		long[] goOn = { 1 };
		while (goOn[0] == 1) {
			call(workload, batch);
			long elapsed = System.nanoTime() - start;
			goOn[0] = (elapsed < limit || elapsed < limit + this.patienceNanos && this.compiler.busy()) ? 1 : 0;
			this.group.allReduce(goOn, ReduceOp.MAX);
		}
		this.patienceNanos = Math.max(0, this.patienceNanos - Math.max(0, System.nanoTime() - start - limit));
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
