package io.tutti.training.job;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.tutti.BadConfigurationException;
import io.tutti.CollectiveException;
import io.tutti.ElasticGroup;
import io.tutti.ExitCode;
import io.tutti.MembershipChangedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.SampleCounts;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingTask;
import io.tutti.training.checkpoint.CheckpointException;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.checkpoint.JobFingerprint;
import io.tutti.training.internal.IntraOpThreads;
import io.tutti.training.internal.ProcessEnd;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a data-parallel training job. It trains the model of a
 * {@link TrainingTask}; each rank processes a share of every batch.
 * <p>
 * The job is reproducible: the same options and world size give bit-identical parameters
 * on the same kind of processor, unless the shares of the ranks are measured
 * ({@link RankShares}). Another world size gives the same parameters up to rounding,
 * unless the model has layers whose result depends on a rank's share of the batch, such
 * as dropout and batch normalization. All ranks must be given the same options.
 */
public final class TrainingJob {

	private final @Nullable ProcessGroup group;

	private final @Nullable ElasticGroup elastic;

	private final GuardedTask task;

	private final TrainingOptions options;

	private final TrainingListener listener;

	private final Supplier<TrainingDevice> device;

	private final AtomicReference<@Nullable String> stopReason = new AtomicReference<>();

	private final AtomicBoolean started = new AtomicBoolean();

	/** Generations of the group in which this rank has trained. */
	private int generations;

	/** Of earlier generations of the group. */
	private RunTotals totals = RunTotals.NONE;

	/**
	 * Creates a job on the CPU.
	 * @param group the ranks that train together; the caller closes it
	 * @param task what to train; the job closes it
	 * @param options how to train, the same on every rank
	 * @param listener receives the events of this rank
	 */
	public TrainingJob(ProcessGroup group, TrainingTask task, TrainingOptions options, TrainingListener listener) {
		this(group, task, options, listener, () -> TrainingDevice.CPU);
	}

	/**
	 * Creates a job on the given device.
	 * @param group the ranks that train together; the caller closes it
	 * @param task what to train; the job closes it
	 * @param options how to train, the same on every rank
	 * @param listener receives the events of this rank
	 * @param device the device, requested when the job runs; its kind must be the same on
	 * every rank
	 */
	public TrainingJob(ProcessGroup group, TrainingTask task, TrainingOptions options, TrainingListener listener,
			Supplier<TrainingDevice> device) {
		this(group, null, task, options, listener, device);
	}

	/**
	 * Creates a job on the CPU that continues without lost ranks. Ranks that join receive
	 * the state of the job from another rank. The batch of each step is the same with any
	 * number of ranks, so that a run with lost ranks gives the parameters of an
	 * undisturbed run up to rounding, with the same reservation as for another world
	 * size.
	 * @param group the ranks that train together; the caller closes it
	 * @param task what to train; the job closes it
	 * @param options how to train, the same on every rank
	 * @param listener receives the events of this rank
	 * @throws BadConfigurationException if the options divide the optimizer among the
	 * ranks, or hold weights of the ranks: the number of ranks changes
	 */
	public TrainingJob(ElasticGroup group, TrainingTask task, TrainingOptions options, TrainingListener listener) {
		this(null, group, task, options, listener, () -> TrainingDevice.CPU);
	}

	private TrainingJob(@Nullable ProcessGroup group, @Nullable ElasticGroup elastic, TrainingTask task,
			TrainingOptions options, TrainingListener listener, Supplier<TrainingDevice> device) {
		if (elastic != null && options.shares().weights() != null) {
			throw new BadConfigurationException(
					"rank weights " + options.shares()
							+ " hold for one world size only, and that of an elastic job changes",
					"Use measured or equal shares");
		}
		if (elastic != null && options.shardsOptimizer()) {
			throw new BadConfigurationException(
					"an optimizer divided among the ranks (ZeRO-1) loses the state of each"
							+ " lost rank, with which an elastic job is to continue",
					"Use a whole optimizer on every rank");
		}
		this.device = device;
		this.group = group;
		this.elastic = elastic;
		this.task = new GuardedTask(task);
		this.options = options;
		this.listener = listener;
	}

	/**
	 * Trains until the last step, or until any rank requests a stop. Runs on the calling
	 * thread, once per job. A failure of this rank only aborts the group, so that the
	 * other ranks receive the reason.
	 * @return the summary of the job
	 * @throws IllegalStateException if it has been called before
	 * @throws io.tutti.training.table.MalformedDataException if a table cannot be read or
	 * used for training
	 * @throws TaskException if the task throws another exception or breaks its contract
	 * @throws CheckpointException if the job cannot continue from the checkpoint or
	 * cannot write a new one
	 * @throws ReportException on rank 0, if the report cannot be written; and on any rank
	 * of an elastic job, before it joins, if it is a directory or there is none for it
	 * @throws io.tutti.BackendUnavailableException if a GPU is requested and not
	 * available, or if libtorch cannot be unpacked
	 * @throws ReplicaMismatchException if the ranks' options, data or trained parameters
	 * differ
	 * @throws TrainingDivergedException if the loss is not finite or, for a task with a
	 * {@link TrainingTask#guessingLoss()}, grows far above both that and its value before
	 * the first step, or ends above both
	 * @throws io.tutti.CollectiveException if the group breaks
	 */
	public TrainingSummary run() {
		if (this.started.getAndSet(true)) {
			throw new IllegalStateException("run() was called before; create another TrainingJob");
		}
		try (this.task) {
			return train();
		}
		catch (Throwable ex) {
			if (this.group != null) {
				abortOthers(this.group, ex);
			}
			throw ex;
		}
	}

	/**
	 * Requests that all ranks stop soon, after the same step, with a checkpoint if the
	 * job has a checkpoint directory. May be called from any thread, any number of times,
	 * before or during {@link #run()}. The first reason is kept.
	 * @param reason shown by every rank
	 */
	public void requestStop(String reason) {
		this.stopReason.compareAndSet(null, reason);
	}

	private TrainingSummary train() {
		requireUsableReport();
		NativeLibraryPreparation.prepare();
		ProcessEnd.skipFinalizers();
		TrainingDevice place = this.device.get();
		IntraOpThreads.set(this.options.threads());
		SampleCounts samples = this.task.load(this.options.seed(), place);
		Fingerprints job = fingerprints(samples, place);
		if (this.group != null) {
			ParameterAgreement.require(this.group, job.shared());
		}
		TrainingSummary summary = train(samples, job, place);
		this.listener.finished(summary);
		return summary;
	}

	/**
	 * What the job has in common with others.
	 *
	 * @param kept what it has in common with its checkpoint
	 * @param shared what the ranks must share, also where a checkpoint may differ
	 */
	private record Fingerprints(JobFingerprint kept, JobFingerprint shared) {
	}

	private Fingerprints fingerprints(SampleCounts samples, TrainingDevice place) {
		Map<String, String> identity = this.task.identity();
		try {
			JobFingerprint kept = this.options.fingerprint(identity, samples);
			return new Fingerprints(kept, shared(kept, samples, place));
		}
		catch (IllegalArgumentException ex) {
			throw this.task.rejected("identity", String.valueOf(ex.getMessage()));
		}
	}

	private TrainingSummary train(SampleCounts samples, Fingerprints job, TrainingDevice place) {
		ElasticGroup changing = this.elastic;
		Replica replica = new Replica(this.task, this.options.seed(), place, changing != null,
				this.options.shardsOptimizer());
		Consumer<ProcessGroup> sameJob = (group) -> ParameterAgreement.requireOfMembers(group, job.shared(),
				this.generations == 0);
		try (TrainingState state = new TrainingState(replica, sameJob)) {
			if (changing != null || this.options.checkpoint() != null) {
				replica.requireStorable();
			}
			return (changing == null) ? train(Objects.requireNonNull(this.group), samples, job.kept(), state)
					: changing.run(state, (group) -> {
						try {
							// No state was synchronized where all were equal.
							sameJob.accept(group);
							return train(group, samples, job.kept(), state);
						}
						catch (ReplicaMismatchException | TrainingDivergedException | CheckpointException ex) {
							if (isKnownToAll(ex)) {
								ParameterAgreement.awaitEnd(group);
							}
							throw ex;
						}
					});
		}
	}

	/** Trains in one generation of the group. */
	private TrainingSummary train(ProcessGroup group, SampleCounts samples, JobFingerprint job, TrainingState state) {
		Runnable commit = (this.elastic != null) ? this.elastic::commit : () -> {
		};
		if (this.elastic != null) {
			long before = state.current().job().repeatedSteps();
			state.enter(group);
			long repeated = state.current().job().repeatedSteps();
			if (repeated > ((this.generations > 0) ? before : 0)) {
				this.listener.repeated(repeated);
			}
		}
		RunTotals before = this.totals;
		try (TrainingLoop loop = new TrainingLoop(group, this.options, this.listener, this.stopReason, job, this.task,
				samples, state, commit)) {
			try {
				begin(loop, group, state);
				loop.run();
				TrainingSummary summary = loop.summarise(before);
				Path report = report(group);
				if (report != null) {
					TrainingReport.write(summary, report);
				}
				return summary;
			}
			catch (CollectiveException | MembershipChangedException ex) {
				closeCheckpoints(loop, ex);
				throw ex;
			}
			catch (Throwable ex) {
				// First, since the loop closes once the last checkpoint is written.
				abortOthers(group, ex);
				throw ex;
			}
			finally {
				// Also after the last step: if the group breaks then, the loop runs
				// again.
				this.totals = before.plus(loop.totals());
			}
		}
	}

	/**
	 * A checkpoint that could not be written ends the job also if the group is to form
	 * again.
	 */
	private static void closeCheckpoints(TrainingLoop loop, RuntimeException reason) {
		try {
			loop.closeCheckpoints();
		}
		catch (CheckpointException ex) {
			ex.addSuppressed(reason);
			throw ex;
		}
	}

	/** The state is the same on every rank, and therefore the choice. */
	private void begin(TrainingLoop loop, ProcessGroup group, TrainingState state) {
		if (state.step() == 0) {
			loop.restore();
		}
		else {
			loop.resume();
		}
		if (this.generations++ == 0) {
			loop.announce(this.task.name());
		}
		else {
			this.listener.reformed(group.worldSize(), state.step());
		}
	}

	/** Each rank of an elastic job may become rank 0, which writes the report. */
	private void requireUsableReport() {
		Path report = (this.group != null) ? report(this.group) : this.options.report();
		if (report != null) {
			TrainingReport.requireUsable(report);
		}
	}

	private @Nullable Path report(ProcessGroup group) {
		return (group.rank() == 0) ? this.options.report() : null;
	}

	private JobFingerprint shared(JobFingerprint job, SampleCounts samples, TrainingDevice place) {
		return job.with("epochs", this.options.epochs())
			.with("test samples", samples.test())
			.with("device", place.kind())
			.with("rank weights", this.options.shares())
			.with("optimizer", this.options.shardsOptimizer() ? "divided" : "whole")
			.with("checkpoint", checkpointInterval(this.options.checkpoint()));
	}

	private static String checkpointInterval(@Nullable CheckpointOptions checkpoint) {
		if (checkpoint == null) {
			return "none";
		}
		return (checkpoint.every() > 0) ? "every " + checkpoint.every() + " steps" : "every epoch";
	}

	/** The other ranks wait for this one, unless they fail in the same way. */
	private static void abortOthers(ProcessGroup group, Throwable failure) {
		if (!isKnownToAll(failure)) {
			String reason = (failure instanceof ExitCode.Source) ? failure.getMessage() : failure.toString();
			group.abort(ExitCode.ofOthers(failure), "rank " + group.rank() + " cannot continue training: " + reason);
		}
	}

	/** Whether the other ranks throw the same exception, so that no abort is needed. */
	private static boolean isKnownToAll(Throwable failure) {
		return switch (failure) {
			case CollectiveException _, ReplicaMismatchException _, TrainingDivergedException _ -> true;
			case CheckpointException checkpoint -> checkpoint.isKnownToAll();
			default -> false;
		};
	}

}
