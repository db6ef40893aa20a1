package io.tutti.training.job;

import java.nio.file.Path;

import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.jspecify.annotations.Nullable;

/**
 * The options of a job that trains the classifier: those of the job and those of the
 * task.
 */
record ClassifierJob(int epochs, int globalBatch, double learningRate, long seed, int threads, @Nullable Path data,
		@Nullable Path checkpointDirectory, int checkpointEvery, @Nullable Path report, int keep) {

	ClassifierJob(int epochs, int globalBatch, double learningRate, long seed, int threads, @Nullable Path data,
			@Nullable Path checkpointDirectory, int checkpointEvery, @Nullable Path report) {
		this(epochs, globalBatch, learningRate, seed, threads, data, checkpointDirectory, checkpointEvery, report,
				CheckpointOptions.DEFAULT_KEEP);
	}

	static ClassifierJob defaults() {
		TrainingOptions options = TrainingOptions.defaults();
		return new ClassifierJob(options.epochs(), options.globalBatch(), ClassifierOptions.DEFAULT_LEARNING_RATE,
				options.seed(), options.threads(), null, null, 0, null);
	}

	TrainingOptions options() {
		return new TrainingOptions(this.epochs, this.globalBatch, this.seed, this.threads,
				(this.checkpointDirectory != null)
						? new CheckpointOptions(this.checkpointDirectory, this.checkpointEvery, this.keep) : null,
				this.report);
	}

	ClassifierTask task() {
		return new ClassifierTask(new ClassifierOptions(this.learningRate, this.data));
	}

}
