package io.tutti.training.job;

import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicReference;

import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.training.BatchSchedule;
import io.tutti.training.SampleCounts;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.checkpoint.CheckpointException;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.checkpoint.CheckpointStore;
import io.tutti.training.checkpoint.JobFingerprint;
import io.tutti.training.checkpoint.Progress;
import io.tutti.training.checkpoint.SavedCheckpoint;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of a job in lockstep with the other ranks of a group, from the
 * checkpoint, if any, to the last step or until a rank requests a stop.
 */
final class TrainingLoop implements AutoCloseable {

	private static final String ANOTHER_RANK = "another rank asked to stop";

	private final ProcessGroup group;

	private final TrainingOptions options;

	private final TrainingListener listener;

	private final AtomicReference<@Nullable String> stopReason;

	private final BatchSchedule schedule;

	private final TrainingState state;

	private final BatchShares shares;

	private final Replica replica;

	/** Ends each step of an elastic job. */
	private final Runnable commit;

	private final TestRun test;

	private final @Nullable CheckpointStore checkpoints;

	private final boolean measuresTrainingLoss;

	private final DivergenceCheck divergence;

	private StepTimes times = StepTimes.NONE;

	private double checkpointSeconds;

	/** Whether the model after the last step has been checked in this generation. */
	private boolean endChecked;

	/**
	 * Connects the state to the ranks of a group. A collective call.
	 * @param commit called after each step by an elastic job
	 */
	TrainingLoop(ProcessGroup group, TrainingOptions options, TrainingListener listener,
			AtomicReference<@Nullable String> stopReason, JobFingerprint job, GuardedTask task, SampleCounts samples,
			TrainingState state, Runnable commit) {
		this.group = group;
		this.options = options;
		this.listener = listener;
		this.stopReason = stopReason;
		this.state = state;
		this.commit = commit;
		this.schedule = new BatchSchedule(samples.training(), options.globalBatch(), group.worldSize(), options.seed());
		this.shares = new BatchShares(group, this.schedule, options.shares());
		this.replica = state.replica();
		this.replica.join(group);
		this.test = new TestRun(samples.test(), task.metric(), this.replica, this::isAskedToStop);
		OptionalDouble guessing = task.guessingLoss();
		this.measuresTrainingLoss = guessing.isPresent();
		if (Double.isNaN(current().job().lossBefore())) {
			state.become(current().withLossBefore(trainingLoss().orElse(DivergenceCheck.UNKNOWN)));
		}
		this.divergence = new DivergenceCheck(current().job().lossBefore(), guessing.orElse(DivergenceCheck.UNKNOWN),
				current().lastEpochLoss(), task.divergenceAdvice());
		this.checkpoints = (options.checkpoint() != null) ? new CheckpointStore(group, options.checkpoint(), job,
				this.replica.checkpointState(), this::checkpointed, current().job().id()) : null;
	}

	/**
	 * Restores the checkpoint, if any.
	 * @throws CheckpointException on every rank, also if the job ends before its step
	 */
	void restore() {
		if (this.checkpoints != null) {
			this.checkpoints.restore((kept) -> this.state.become(current().restored(kept)));
			this.replica.stateReplaced();
			requireWithinJob(this.options.checkpoint());
		}
	}

	private void requireWithinJob(CheckpointOptions checkpoint) {
		long step = progress().step();
		if (step > totalSteps()) {
			throw CheckpointException.onEveryRank(ExitCode.BAD_CONFIGURATION,
					"the checkpoint in " + checkpoint.directory() + " is of step " + step + ", but with --epochs "
							+ this.options.epochs() + " the job ends after step " + totalSteps() + "; give --epochs "
							+ Math.ceilDiv(step, this.schedule.stepsPerEpoch()) + " or more, or another directory",
					null);
		}
	}

	/** Passes the plan to the listener. */
	void announce(String data) {
		this.listener.started(new TrainingPlan(this.group.rank(), this.group.worldSize(), this.group.backend(), data,
				this.schedule.samples(), this.test.samples(), this.replica.replicas().parameterCount(),
				this.options.epochs(), totalSteps(), progress().step()));
	}

	/** Continues a job of which earlier generations of the group have run some steps. */
	void resume() {
		if (this.checkpoints != null) {
			this.checkpoints.open();
		}
		boolean epochEnd = progress().step() % this.schedule.stepsPerEpoch() == 0;
		boolean stop = stopped();
		if (epochEnd && progress().epochSamples() > 0 && !current().epochEnded()) {
			int epoch = Math.toIntExact(progress().step() / this.schedule.stepsPerEpoch()) - 1;
			stop = endEpoch(epoch, stop);
		}
		save(stop, epochEnd);
	}

	void run() {
		if (progress().step() == totalSteps() && !this.endChecked && checkEnd(stopped())) {
			stop();
		}
		while (progress().step() < totalSteps() && !stopped()) {
			runEpoch(Math.toIntExact(progress().step() / this.schedule.stepsPerEpoch()));
		}
		if (this.checkpoints != null) {
			this.checkpoints.awaitWritten();
			this.checkpoints.finish();
		}
	}

	private JobRecord current() {
		return this.state.current();
	}

	private Progress progress() {
		return current().progress();
	}

	private boolean stopped() {
		return current().job().stopped();
	}

	private void runEpoch(int epoch) {
		int[] order = this.schedule.order(epoch);
		int stepInEpoch = Math.toIntExact(progress().step() % this.schedule.stepsPerEpoch());
		while (stepInEpoch < this.schedule.stepsPerEpoch() && !stopped()) {
			boolean stop = runStep(order, epoch, stepInEpoch++);
			boolean epochEnd = stepInEpoch == this.schedule.stepsPerEpoch();
			if (epochEnd) {
				stop = endEpoch(epoch, stop);
			}
			save(stop, epochEnd);
			this.commit.run();
		}
	}

	/** Returns whether the ranks have agreed to stop after this step. */
	private boolean runStep(int[] order, int epoch, int stepInEpoch) {
		long start = System.nanoTime();
		long dataNanos = this.replica.selectionNanos();
		long waitedNanos = this.replica.waitedNanos();
		int batch = this.schedule.batchSize(stepInEpoch);
		TrainingStep step = new TrainingStep(progress().step(), epoch, this.schedule.stepsPerEpoch(),
				this.options.epochs());
		int[] samples = this.shares.samples(order, stepInEpoch);
		this.state.begin(step.step() + 1);
		this.listener
			.selected(new StepSamples(step.step() + 1, this.group.generation(), this.group.rank(), samples.clone()));
		StepTotals all = this.replica.learn(step, samples, batch, isAskedToStop());
		this.state.become(current().afterStep(all.lossSum(), batch));
		this.divergence.step(progress().step(), all.lossSum());
		StepTimes took = new StepTimes(batch, System.nanoTime() - start, this.replica.selectionNanos() - dataNanos,
				this.replica.waitedNanos() - waitedNanos);
		this.times = this.times.plus(took);
		this.listener.step(progress().step(), all.lossSum() / batch);
		this.listener.timed(took);
		this.shares.record(samples.length, took.nanos() - took.exposedNanos());
		return all.stop();
	}

	/**
	 * Returns whether the ranks have agreed to stop, before the evaluation, which is then
	 * left out, or by ending it early.
	 */
	private boolean endEpoch(int epoch, boolean stop) {
		OptionalDouble score = score(stop);
		double loss = progress().meanLoss();
		if (this.state.endEpoch()) {
			this.listener.epochDone(new EpochResult(epoch + 1, this.options.epochs(), loss, this.test.metric(),
					score.orElse(Double.NaN)));
		}
		this.divergence.epoch(epoch + 1, loss);
		return score.isEmpty();
	}

	private OptionalDouble score(boolean stop) {
		return stop ? OptionalDouble.empty() : this.test.score(progress().step());
	}

	/** Saves the state after a step, if a checkpoint is due and it has not diverged. */
	private void save(boolean asked, boolean epochEnd) {
		boolean last = progress().step() == totalSteps();
		if (last ? checkEnd(asked) : asked) {
			stop();
		}
		if (this.checkpoints != null) {
			this.checkpoints.poll();
			if (isSaved(epochEnd)) {
				if (!last) {
					requireFiniteParameters();
				}
				this.checkpoints.awaitWritten();
				this.checkpoints.save(current().resumable());
			}
		}
	}

	private void stop() {
		if (this.state.stop()) {
			String reason = this.stopReason.get();
			this.listener.stopping(progress().step(), (reason != null) ? reason : ANOTHER_RANK);
		}
	}

	private boolean isAskedToStop() {
		return this.stopReason.get() != null;
	}

	private boolean isSaved(boolean epochEnd) {
		return progress().step() == totalSteps() || stopped() || isCheckpointDue(epochEnd);
	}

	/** A collective call, so that all ranks throw. */
	private void requireFiniteParameters() {
		int[] finite = { this.replica.isFinite() ? 1 : 0 };
		this.group.allReduce(finite, ReduceOp.MIN);
		this.divergence.parameters(progress().step(), finite[0] == 1);
	}

	/** Returns whether the ranks have agreed to stop, as {@link #endEpoch} does. */
	private boolean checkEnd(boolean stop) {
		this.endChecked = true;
		requireFiniteParameters();
		if (stop || !this.measuresTrainingLoss) {
			return stop;
		}
		OptionalDouble loss = trainingLoss();
		loss.ifPresent(this.divergence::end);
		return loss.isEmpty();
	}

	/**
	 * Mean loss of the model over the training samples; empty if it is not measured or a
	 * rank was asked to stop. A collective call.
	 */
	private OptionalDouble trainingLoss() {
		return this.measuresTrainingLoss ? this.replica.meanLoss(this.schedule.samples(), this::isAskedToStop)
				: OptionalDouble.empty();
	}

	private boolean isCheckpointDue(boolean epochEnd) {
		int every = this.options.checkpoint().every();
		return (every > 0) ? progress().step() % every == 0 : epochEnd;
	}

	private void checkpointed(SavedCheckpoint saved) {
		this.checkpointSeconds += saved.waitedSeconds();
		this.listener.checkpointed(saved);
	}

	/**
	 * Evaluates the test samples, unless the job has stopped, and compares the ranks'
	 * parameters. A collective call.
	 * @param before totals of this rank in earlier generations of the group
	 */
	TrainingSummary summarise(RunTotals before) {
		long steps = progress().step();
		OptionalDouble score = score(stopped());
		RunTotals run = before.plus(totals());
		double seconds = run.times().nanos() / 1e9;
		return new TrainingSummary(this.group.worldSize(), this.group.backend(),
				Math.toIntExact(steps / this.schedule.stepsPerEpoch()), steps, this.test.metric(),
				score.orElse(Double.NaN), (seconds > 0) ? run.times().samples() / seconds : 0, run.allReducedBytes(),
				seconds, run.times().exposedNanos() / 1e9,
				ParameterAgreement.require(this.group, this.replica.stateSha256()), score.isEmpty(),
				run.checkpointSeconds(), Math.max(0, current().job().generations() - 1),
				current().job().repeatedSteps(), this.replica.dividedStateBytes());
	}

	/** Totals of this rank in this generation of the group. */
	RunTotals totals() {
		return new RunTotals(this.times, this.replica.allReducedBytes() + this.test.allReducedBytes(),
				this.checkpointSeconds);
	}

	private long totalSteps() {
		return (long) this.options.epochs() * this.schedule.stepsPerEpoch();
	}

	/**
	 * Waits for a limited time until the last checkpoint is complete and reports it.
	 * Idempotent.
	 * @throws io.tutti.training.checkpoint.CheckpointException if it could not be written
	 */
	void closeCheckpoints() {
		if (this.checkpoints != null) {
			this.checkpoints.close();
		}
	}

	@Override
	public void close() {
		closeCheckpoints();
	}

}
