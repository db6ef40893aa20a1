package io.tutti.training.job;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.tutti.training.SampleCounts;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.checkpoint.JobFingerprint;
import org.jspecify.annotations.Nullable;

/**
 * Options of a training job of any task. Must be the same on every rank.
 *
 * @param epochs passes over the training samples, at least 1
 * @param globalBatch samples per step over all ranks together, at least 1
 * @param seed seed of the split, the initial parameters and the order of samples
 * @param threads threads that libtorch may use inside one operation, at least 1
 * @param checkpoint where and when to keep checkpoints, {@code null} for none
 * @param report file to which rank 0 writes the summary as JSON, {@code null} for none
 * @param shares how each batch is divided among the ranks
 * @param shardsOptimizer whether each rank holds a part of the optimizer's state (ZeRO
 * stage 1)
 */
public record TrainingOptions(int epochs, int globalBatch, long seed, int threads,
		@Nullable CheckpointOptions checkpoint, @Nullable Path report, RankShares shares, boolean shardsOptimizer) {

	/** Default number of epochs. */
	public static final int DEFAULT_EPOCHS = 30;

	/** Default global batch. */
	public static final int DEFAULT_GLOBAL_BATCH = 32;

	/** Default seed. */
	public static final long DEFAULT_SEED = 42;

	/**
	 * Default number of threads: torchrun sets OMP_NUM_THREADS and other launchers do
	 * not.
	 */
	public static final int DEFAULT_THREADS = 1;

	/** Checks the values. */
	public TrainingOptions {
		requireAtLeastOne("epochs", epochs);
		requireAtLeastOne("global batch", globalBatch);
		requireAtLeastOne("threads", threads);
	}

	/**
	 * Options with a whole optimizer on every rank.
	 * @param epochs passes over the training samples, at least 1
	 * @param globalBatch samples per step over all ranks together, at least 1
	 * @param seed seed of the split, the initial parameters and the order of samples
	 * @param threads threads that libtorch may use inside one operation, at least 1
	 * @param checkpoint where and when to keep checkpoints, {@code null} for none
	 * @param report file to which rank 0 writes the summary as JSON, {@code null} for
	 * none
	 * @param shares how each batch is divided among the ranks
	 */
	public TrainingOptions(int epochs, int globalBatch, long seed, int threads, @Nullable CheckpointOptions checkpoint,
			@Nullable Path report, RankShares shares) {
		this(epochs, globalBatch, seed, threads, checkpoint, report, shares, false);
	}

	/**
	 * Options with equal shares of the ranks and a whole optimizer on each.
	 * @param epochs passes over the training samples, at least 1
	 * @param globalBatch samples per step over all ranks together, at least 1
	 * @param seed seed of the split, the initial parameters and the order of samples
	 * @param threads threads that libtorch may use inside one operation, at least 1
	 * @param checkpoint where and when to keep checkpoints, {@code null} for none
	 * @param report file to which rank 0 writes the summary as JSON, {@code null} for
	 * none
	 */
	public TrainingOptions(int epochs, int globalBatch, long seed, int threads, @Nullable CheckpointOptions checkpoint,
			@Nullable Path report) {
		this(epochs, globalBatch, seed, threads, checkpoint, report, RankShares.EQUAL);
	}

	/**
	 * A copy in which the ranks divide the optimizer's state among them, or do not.
	 * @param wanted whether each rank holds a part of the optimizer's state
	 * @return the changed copy
	 */
	public TrainingOptions withShardedOptimizer(boolean wanted) {
		return new TrainingOptions(this.epochs, this.globalBatch, this.seed, this.threads, this.checkpoint, this.report,
				this.shares, wanted);
	}

	/**
	 * The defaults, no checkpoint and no report.
	 * @return the default options
	 */
	public static TrainingOptions defaults() {
		return new TrainingOptions(DEFAULT_EPOCHS, DEFAULT_GLOBAL_BATCH, DEFAULT_SEED, DEFAULT_THREADS, null, null);
	}

	/**
	 * The values of these options and of a task that determine the job's parameters.
	 * @param identity values of the task
	 * @param samples the task's samples, whose order depends on their number
	 */
	JobFingerprint fingerprint(Map<String, String> identity, SampleCounts samples) {
		List<JobFingerprint.Value> values = new ArrayList<>();
		values.add(new JobFingerprint.Value("seed", Long.toString(this.seed)));
		values.add(new JobFingerprint.Value("global batch", Integer.toString(this.globalBatch)));
		values.add(new JobFingerprint.Value("training samples", Integer.toString(samples.training())));
		identity.forEach((name, value) -> values.add(new JobFingerprint.Value(name, value)));
		return new JobFingerprint(values);
	}

	private static void requireAtLeastOne(String name, int value) {
		if (value < 1) {
			throw new IllegalArgumentException(name + " must be at least 1, got " + value);
		}
	}

}
