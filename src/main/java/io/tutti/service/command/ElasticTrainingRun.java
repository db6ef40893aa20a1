package io.tutti.service.command;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.ExitCode;
import io.tutti.engine.Timeouts;
import io.tutti.launch.ProcessProperties;
import io.tutti.service.config.ConfigurationException;
import io.tutti.training.TrainingTask;
import io.tutti.training.job.EpochResult;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.job.TrainingPlan;
import io.tutti.training.job.TrainingSummary;

/**
 * Runs a training job that continues without lost ranks. It needs no Spring application:
 * the group forms again and again, and there is no HTTP server. Rank 0 of each generation
 * prints the progress.
 */
final class ElasticTrainingRun {

	static final String MIN_RANKS = "tutti.elastic.min-ranks";

	private final TrainingTask task;

	private final TrainingOptions options;

	private final Duration drain;

	private final TrainingProgressBar progress = new TrainingProgressBar(System.err, false);

	private volatile boolean started;

	ElasticTrainingRun(TrainingTask task, TrainingOptions options) {
		this.task = task;
		this.options = options;
		this.drain = ProcessProperties.ofThisProcess().duration("tutti.timeout.drain", Timeouts.DEFAULTS.drain());
	}

	/** Whether the properties of this process ask for such a job. */
	static boolean isConfigured() {
		return ProcessProperties.ofThisProcess().text(MIN_RANKS) != null;
	}

	/**
	 * Checks that nothing is configured that only the Spring application reads, and takes
	 * the properties of the command line.
	 * @param arguments properties as {@code --name=value}
	 * @throws ConfigurationException naming what such a job cannot use
	 */
	static void configure(List<String> arguments, Map<String, String> environment) {
		ProcessProperties properties = ProcessProperties.ofThisProcess();
		for (String argument : arguments) {
			int sign = argument.indexOf('=');
			if (!argument.startsWith("--tutti.") || sign < 0) {
				throw refused(argument);
			}
			System.setProperty(argument.substring("--".length(), sign), argument.substring(sign + 1));
		}
		if (properties.text("tutti.http.port") != null) {
			throw refused("--http-port (tutti.http.port), since it serves no HTTP");
		}
		String device = properties.text("tutti.train.device", "cpu").toLowerCase(Locale.ROOT);
		if (!device.equals("cpu") && !device.equals("auto")) {
			throw refused("tutti.train.device=" + device + ", since it trains on the CPU");
		}
		Map<String, String> system = System.getProperties()
			.stringPropertyNames()
			.stream()
			.filter((name) -> !name.startsWith("spring"))
			.collect(Collectors.toMap((name) -> name, System::getProperty));
		if (SpringConfiguration.isUsed(Path.of(""), environment, system)) {
			throw refused("properties of configuration files or Spring profiles; give them as variables or arguments");
		}
	}

	private static ConfigurationException refused(String what) {
		return new ConfigurationException("a training job with " + MIN_RANKS + " cannot use " + what,
				"Remove it, or start the job without --min-ranks", null);
	}

	/** Trains and returns the exit code. */
	int run(StopRequest stop) {
		try (ElasticGroup group = ElasticGroup.fromEnvironment()) {
			group.onEvent(ElasticTrainingRun::print);
			TrainingJob job = new TrainingJob(group, this.task, this.options, new OfRankZero(group));
			stop.reason().thenAccept((reason) -> stop(job, reason));
			TrainingSummary summary = job.run();
			if (group.group().rank() == 0) {
				System.out.println(TrainingReportText.of(summary));
			}
			return summary.stopped() ? ExitCode.STOPPED_ON_REQUEST : ExitCode.DONE;
		}
	}

	/**
	 * All ranks stop after the same step. Before the first step there is nothing to save,
	 * and ranks that no longer answer cannot agree.
	 */
	private void stop(TrainingJob job, String reason) {
		if (!this.started) {
			System.err.println("tutti: got " + reason + " during rendezvous; there is nothing to save yet");
			Runtime.getRuntime().halt(ExitCode.STOPPED_ON_REQUEST);
		}
		job.requestStop(reason);
		UncaughtFailure.haltAfter(this.drain, ExitCode.ABORTED);
	}

	private static void print(ElasticEvent event) {
		String line = switch (event) {
			case ElasticEvent.Lost lost ->
				"lost ranks " + lost.slots() + " of generation " + lost.generation() + ": " + lost.failure().detail();
			case ElasticEvent.Awaiting awaiting -> "waiting for ranks " + awaiting.slots();
			case ElasticEvent.Formed formed -> String.format(Locale.ROOT, "generation %d: ranks %s after %.3f s",
					formed.generation(), formed.slots(), formed.after().toNanos() / 1e9);
			case ElasticEvent.Synchronized taken -> "generation " + taken.generation() + ": ranks " + taken.receivers()
					+ " took the state of rank " + taken.source() + " after step " + taken.step();
		};
		System.err.println("tutti: " + line);
	}

	/** Passes the events to the progress lines while this rank is rank 0. */
	private final class OfRankZero implements TrainingListener {

		private final ElasticGroup group;

		OfRankZero(ElasticGroup group) {
			this.group = group;
		}

		private boolean prints() {
			return this.group.group().rank() == 0;
		}

		@Override
		public void started(TrainingPlan plan) {
			ElasticTrainingRun.this.started = true;
			if (prints()) {
				ElasticTrainingRun.this.progress.started(plan);
			}
		}

		@Override
		public void reformed(int worldSize, long step) {
			if (prints()) {
				ElasticTrainingRun.this.progress.reformed(worldSize, step);
			}
		}

		@Override
		public void epochDone(EpochResult result) {
			if (prints()) {
				ElasticTrainingRun.this.progress.epochDone(result);
			}
		}

		@Override
		public void stopping(long step, String reason) {
			if (prints()) {
				ElasticTrainingRun.this.progress.stopping(step, reason);
			}
		}

	}

}
