package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.tutti.BadConfigurationException;
import io.tutti.ElasticGroup;
import io.tutti.ExitCode;
import io.tutti.engine.Timeouts;
import io.tutti.service.config.HttpAnnouncement;
import io.tutti.service.config.TrainProperties;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingWatch;
import io.tutti.training.DeviceChoice;
import io.tutti.training.TrainingTask;
import io.tutti.training.job.EpochResult;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.job.TrainingPlan;
import io.tutti.training.job.TrainingSummary;

import org.springframework.context.ApplicationContext;

/**
 * Runs a training job that continues without lost ranks. Rank 0 of each generation prints
 * the progress.
 */
final class ElasticTrainingRun {

	private final GroupLifecycle lifecycle;

	private final TrainingTask task;

	private final TrainingOptions options;

	private final TrainingListener watch;

	private final Duration drain;

	private final Supplier<Optional<String>> url;

	private final TrainingProgressBar progress = new TrainingProgressBar(System.err, false);

	private final AtomicBoolean draining = new AtomicBoolean();

	/**
	 * Creates a job without starting it.
	 * @param watch receives the job's events on every rank
	 * @param drain how long the ranks may take to stop
	 * @param url where this rank answers HTTP requests
	 */
	ElasticTrainingRun(GroupLifecycle lifecycle, TrainingTask task, TrainingOptions options, TrainingListener watch,
			Duration drain, Supplier<Optional<String>> url) {
		this.lifecycle = lifecycle;
		this.task = task;
		this.options = options;
		this.watch = watch;
		this.drain = drain;
		this.url = url;
	}

	/**
	 * Checks an application's options before its rank joins the group.
	 * @throws BadConfigurationException if it is to train on a GPU, to divide the
	 * optimizer or to share batches by weights, or a file cannot be used
	 */
	static void check(ApplicationContext context, TrainingOptions options) {
		TrainingFiles.requireUsable(options);
		requireProcessor(context.getBean(TrainProperties.class));
		requireWholeOptimizer(options);
		requireSharesOfAnyWorldSize(options);
	}

	/** Creates the job of an application. */
	static ElasticTrainingRun of(ApplicationContext context, TrainingTask task, TrainingOptions options) {
		GroupLifecycle lifecycle = context.getBean(GroupLifecycle.class);
		return new ElasticTrainingRun(lifecycle, task, options, context.getBean(TrainingWatch.class),
				context.getBean(Timeouts.class).drain(), context.getBean(HttpAnnouncement.class)::url);
	}

	/**
	 * Checks the device of an elastic job.
	 * @throws BadConfigurationException if the properties ask for a GPU
	 */
	static void requireProcessor(TrainProperties properties) {
		if (properties.choice().kind() == DeviceChoice.Kind.CUDA) {
			throw new BadConfigurationException(
					"a training job with tutti.elastic.min-ranks cannot use tutti.train.device=" + properties.device()
							+ ", since it trains on the CPU",
					"Remove it, or start the job without --min-ranks");
		}
	}

	/**
	 * Checks the optimizer of an elastic job.
	 * @throws BadConfigurationException if the ranks are to divide it
	 */
	static void requireWholeOptimizer(TrainingOptions options) {
		if (options.shardsOptimizer()) {
			throw new BadConfigurationException(
					"--sharded-optimizer loses the state of each lost rank, with which a job"
							+ " with tutti.elastic.min-ranks is to continue",
					"Remove it, or start the job without --min-ranks");
		}
	}

	/** Configured weights hold for one world size only. */
	private static void requireSharesOfAnyWorldSize(TrainingOptions options) {
		if (options.shares().weights() != null) {
			throw new BadConfigurationException(
					"--rank-weights " + options.shares()
							+ " holds for one number of ranks, and that of a job with tutti.elastic.min-ranks changes",
					"Use --rank-weights measured, or remove it, or start the job without --min-ranks");
		}
	}

	/** Trains and returns the exit code. */
	int run(StopRequest stop) {
		ElasticGroup group = this.lifecycle.elastic();
		group.onEvent(ElasticEventLines::print);
		TrainingJob job = new TrainingJob(group, this.task, this.options,
				new TrainingListeners(List.of(new OfRankZero(group), this.watch)));
		stop.reason().thenAccept((reason) -> stop(job, reason));
		this.lifecycle.onFormed((joined) -> joined.onDrain((reason) -> drain(job, reason)));
		TrainingSummary summary = job.run();
		if (group.group().rank() == 0) {
			System.out.println(TrainingReportText.of(summary));
		}
		return summary.stopped() ? ExitCode.STOPPED_ON_REQUEST : ExitCode.DONE;
	}

	/**
	 * All ranks stop after the same step, also those that are left while the group forms
	 * again. A rank that has not joined has nothing to save and cannot agree with others.
	 */
	private void stop(TrainingJob job, String reason) {
		if (!this.lifecycle.formed().isDone()) {
			System.err.println("tutti: got " + reason + " during rendezvous; there is nothing to save yet");
			Runtime.getRuntime().halt(ExitCode.STOPPED_ON_REQUEST);
		}
		drain(job, reason);
	}

	/** The limit runs from the first request, whichever way it arrives. */
	private void drain(TrainingJob job, String reason) {
		job.requestStop(reason);
		this.lifecycle.end();
		if (this.draining.compareAndSet(false, true)) {
			TrainingRun.abortAfterDrain(this.lifecycle, this.drain, reason);
		}
	}

	/** Passes the events to the progress lines while this rank is rank 0. */
	private final class OfRankZero implements TrainingListener {

		private final ElasticGroup group;

		private boolean printed;

		OfRankZero(ElasticGroup group) {
			this.group = group;
		}

		private boolean prints() {
			return this.group.group().rank() == 0;
		}

		@Override
		public void started(TrainingPlan plan) {
			this.printed = prints();
			if (this.printed) {
				ElasticTrainingRun.this.progress.started(plan);
			}
		}

		@Override
		public void reformed(int worldSize, long step) {
			boolean before = this.printed;
			this.printed = prints();
			if (this.printed && !before) {
				ElasticTrainingRun.this.url.get()
					.ifPresent((url) -> System.err.println("tutti: this process is rank 0 now; HTTP on " + url));
			}
			if (this.printed) {
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
