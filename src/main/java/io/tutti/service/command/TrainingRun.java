package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;
import io.tutti.CollectiveListener;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.device.HostFallback;
import io.tutti.launch.Terminal;
import io.tutti.service.config.TrainProperties;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingWatch;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingTask;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.job.TrainingSummary;

import org.springframework.context.ApplicationContext;

/**
 * Runs a training job: waits for the group to form, trains, and passes stop requests on
 * to every rank.
 */
final class TrainingRun {

	/** How long a rank may write its last checkpoint after an abort, and a reserve. */
	private static final Duration LAST_WRITE = Duration.ofSeconds(65);

	private final GroupLifecycle group;

	private final Duration drain;

	private final TrainingTask task;

	private final TrainingOptions options;

	private final TrainingListener watch;

	private final Function<ProcessGroup, TrainingDevice> device;

	/**
	 * Creates a job without starting it.
	 * @param watch receives the job's events on every rank
	 * @param device chooses this rank's compute device once the group has formed
	 */
	TrainingRun(GroupLifecycle group, Duration drain, TrainingTask task, TrainingOptions options,
			TrainingListener watch, Function<ProcessGroup, TrainingDevice> device) {
		this.group = group;
		this.drain = drain;
		this.task = task;
		this.options = options;
		this.watch = watch;
		this.device = device;
	}

	/**
	 * Checks an application's options before its rank joins the group.
	 * @throws BackendUnavailableException if the configured GPU is not present
	 * @throws BadConfigurationException if a file cannot be used or the weights do not
	 * fit the world
	 */
	static void check(ApplicationContext context, TrainingOptions options) {
		RankAssignment assignment = context.getBean(GroupLifecycle.class).assignment();
		if (assignment.rank() == 0) {
			TrainingFiles.requireUsable(options);
		}
		requireWeightsFor(assignment.worldSize(), options);
		TrainingDevice.requirePresent(context.getBean(TrainProperties.class).choice(), assignment);
	}

	/** Creates the job of an application. */
	static TrainingRun of(ApplicationContext context, TrainingTask task, TrainingOptions options) {
		GroupLifecycle group = context.getBean(GroupLifecycle.class);
		return new TrainingRun(group, context.getBean(Timeouts.class).drain(), task, options,
				context.getBean(TrainingWatch.class), (world) -> device(context, world, group.assignment()));
	}

	private static void requireWeightsFor(int worldSize, TrainingOptions options) {
		try {
			options.shares().requireWorldSize(worldSize);
		}
		catch (IllegalArgumentException ex) {
			throw new BadConfigurationException(String.valueOf(ex.getMessage()), "Check --rank-weights", ex);
		}
	}

	private static TrainingDevice device(ApplicationContext context, ProcessGroup world, RankAssignment assignment) {
		return TrainingDevice.choose(context.getBean(TrainProperties.class).choice(), world, assignment.localRank(),
				context.getBean(HostFallback.class), context.getBean("tuttiGroupLog", CollectiveListener.class),
				context.getBean(Timeouts.class).collective());
	}

	/**
	 * Trains and returns the exit code. As during training, a stop request to any rank
	 * stops all ranks, also while the group is still forming.
	 */
	int run(StopRequest stop) throws Exception {
		CompletableFuture<JoinedGroup> formed = this.group.formed();
		Await.first(stop.reason(), this.group.withdrawn(), formed);
		if (!formed.isDone()) {
			return stoppedBeforeRendezvous(stop);
		}
		Await.first(formed);
		return train(formed.resultNow(), stop);
	}

	/** Prints a stop request to this rank; the log reports that of another rank. */
	private int stoppedBeforeRendezvous(StopRequest stop) {
		int rank = this.group.assignment().rank();
		stop.reason()
			.thenAccept((reason) -> System.err.println(
					"tutti: rank " + rank + " got " + reason + " during rendezvous; there is nothing to save yet"));
		return ExitCode.STOPPED_ON_REQUEST;
	}

	/** Shows progress on rank 0 only, since all ranks would show the same. */
	private int train(JoinedGroup joined, StopRequest stop) {
		if (this.group.assignment().rank() != 0) {
			return exitCode(train(joined, stop, this.watch));
		}
		try (TrainingProgressBar bar = new TrainingProgressBar(System.err, Terminal.showsLiveLines(System.getenv()))) {
			TrainingSummary summary = train(joined, stop, new TrainingListeners(List.of(bar, this.watch)));
			System.out.println(TrainingReportText.of(summary));
			return exitCode(summary);
		}
	}

	private TrainingSummary train(JoinedGroup joined, StopRequest stop, TrainingListener listener) {
		TrainingJob job = new TrainingJob(joined.world(), this.task, this.options, listener,
				() -> this.device.apply(joined.world()));
		joined.onDrain((reason) -> {
			job.requestStop(reason);
			abortAfterDrain(this.group, this.drain, reason);
		});
		int rank = this.group.assignment().rank();
		stop.reason().thenAccept((reason) -> joined.control().requestDrain("rank " + rank + " got " + reason));
		return job.run();
	}

	private static int exitCode(TrainingSummary summary) {
		return summary.stopped() ? ExitCode.STOPPED_ON_REQUEST : ExitCode.DONE;
	}

	/**
	 * Aborts after the drain timeout, in case a rank cannot finish its step. A rank that
	 * does not notice it, since its task waits for something else, is halted once its
	 * last checkpoint has had time to be written. The job can continue from its last
	 * checkpoint, as after a stop in time.
	 */
	static void abortAfterDrain(GroupLifecycle group, Duration drain, String reason) {
		String abort = String.format(Locale.ROOT, "stop requested (%s), but after %.1f s the ranks had not", reason,
				drain.toMillis() / 1e3);
		CompletableFuture.delayedExecutor(drain.toNanos(), TimeUnit.NANOSECONDS, Thread::startVirtualThread)
			.execute(() -> {
				ExitDeadline.haltAfter(LAST_WRITE, ExitCode.STOPPED_ON_REQUEST);
				group.onFormed((formed) -> formed.world().abort(ExitCode.STOPPED_ON_REQUEST, abort));
			});
	}

}
