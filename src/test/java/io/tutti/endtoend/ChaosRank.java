package io.tutti.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.tutti.ElasticGroup;
import io.tutti.ExitCode;
import io.tutti.engine.elastic.ElasticProcess;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.job.StepSamples;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.job.TrainingSummary;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;

/**
 * A rank of an elastic training job that trains until a file {@code stop} exists, or
 * until a given step. Records the samples of its steps, and prints the first step that it
 * completes in each generation.
 */
final class ChaosRank implements TrainingListener {

	static final int GLOBAL_BATCH = 32;

	static final int SEED = 42;

	private static final int EPOCHS = 1_000_000;

	private final Path folder;

	private final long lastStep;

	private final long pauseMillis;

	private TrainingJob job;

	private ElasticGroup group;

	private long generation = -1;

	private ChaosRank(Path folder, long lastStep, long pauseMillis) {
		this.folder = folder;
		this.lastStep = lastStep;
		this.pauseMillis = pauseMillis;
	}

	static void main(String[] arguments) {
		ExitCode.onUncaughtException();
		Thread.ofPlatform().daemon().start(ElasticProcess::endWithTheTest);
		new ChaosRank(Path.of(arguments[0]), Long.parseLong(arguments[1]), Long.parseLong(arguments[2])).run();
		System.exit(0);
	}

	private void run() {
		TrainingOptions options = new TrainingOptions(EPOCHS, GLOBAL_BATCH, SEED, 1,
				new CheckpointOptions(this.folder.resolve("checkpoints"), 50, 2), null);
		try (ElasticGroup elastic = ElasticGroup.fromEnvironment()) {
			this.group = elastic;
			elastic.onEvent((event) -> say("event " + event));
			this.job = new TrainingJob(elastic, new ClassifierTask(new ClassifierOptions(0.05, null)), options, this);
			TrainingSummary summary = this.job.run();
			say("done " + summary.steps() + " " + String.join(",", summary.parameterSha256()) + " "
					+ summary.repeatedSteps());
		}
	}

	@Override
	public void selected(StepSamples samples) {
		String indices = Arrays.stream(samples.samples()).mapToObj(Integer::toString).collect(Collectors.joining(","));
		try {
			Files.writeString(this.folder.resolve("samples-" + ProcessHandle.current().pid()),
					samples.step() + " " + samples.generation() + " " + samples.rank() + " " + indices + "\n",
					StandardOpenOption.CREATE, StandardOpenOption.APPEND);
			Thread.sleep(this.pauseMillis);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (samples.step() == this.lastStep || Files.exists(this.folder.resolve("stop"))) {
			this.job.requestStop("the test ends");
		}
	}

	@Override
	public void step(long step, double loss) {
		if (this.group.generation() != this.generation) {
			this.generation = this.group.generation();
			say("step " + step + " generation " + this.generation + " of " + this.group.group().worldSize() + " at "
					+ System.currentTimeMillis());
		}
	}

	private static void say(String line) {
		System.out.println(line);
		System.out.flush();
	}

}
