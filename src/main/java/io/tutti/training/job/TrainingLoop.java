package io.tutti.training.job;

import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicReference;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.training.BatchSchedule;
import io.tutti.training.SampleCounts;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.checkpoint.CheckpointStore;
import io.tutti.training.checkpoint.JobFingerprint;
import io.tutti.training.checkpoint.Progress;
import io.tutti.training.checkpoint.SavedCheckpoint;
import io.tutti.training.internal.Share;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of a job in lockstep with the other ranks, from the checkpoint, if any,
 * to the last step or until a rank requests a stop.
 */
final class TrainingLoop implements AutoCloseable {

	private static final String ANOTHER_RANK = "another rank asked to stop";

	private final ProcessGroup group;

	private final TrainingOptions options;

	private final TrainingListener listener;

	private final AtomicReference<@Nullable String> stopReason;

	private final BatchSchedule schedule;

	private final Replica replica;

	private final TestRun test;

	private final @Nullable CheckpointStore checkpoints;

	private final boolean measuresTrainingLoss;

	private final DivergenceCheck divergence;

	private Progress progress = Progress.NONE;

	private boolean stopped;

	private long trainedSamples;

	private long trainingNanos;

	private double checkpointSeconds;

	TrainingLoop(ProcessGroup group, TrainingOptions options, TrainingListener listener,
			AtomicReference<@Nullable String> stopReason, JobFingerprint job, GuardedTask task, SampleCounts samples,
			TrainingDevice device) {
		this.group = group;
		this.options = options;
		this.listener = listener;
		this.stopReason = stopReason;
		this.schedule = new BatchSchedule(samples.training(), options.globalBatch(), group.worldSize(), options.seed());
		this.replica = new Replica(group, task, options.seed(), device);
		this.test = new TestRun(group, samples.test(), task.metric(), this.replica);
		OptionalDouble guessing = task.guessingLoss();
		this.measuresTrainingLoss = guessing.isPresent();
		this.divergence = new DivergenceCheck(this.measuresTrainingLoss ? trainingLoss() : DivergenceCheck.UNKNOWN,
				guessing.orElse(DivergenceCheck.UNKNOWN), task.divergenceAdvice());
		this.checkpoints = (options.checkpoint() != null) ? new CheckpointStore(group, options.checkpoint(), job,
				this.replica.checkpointState(), this::checkpointed) : null;
	}

	/** Restores the checkpoint, if any, and passes the plan to the listener. */
	void restore(String data) {
		Progress kept = (this.checkpoints != null) ? this.checkpoints.restore() : null;
		if (kept != null) {
			this.progress = kept;
		}
		this.listener.started(new TrainingPlan(this.group.rank(), this.group.worldSize(), this.group.backend(), data,
				this.schedule.samples(), this.test.samples(), this.replica.replicas().parameterCount(),
				this.options.epochs(), totalSteps(), this.progress.step()));
	}

	void run() {
		if (this.progress.step() == totalSteps()) {
			checkEnd();
		}
		while (this.progress.step() < totalSteps() && !this.stopped) {
			runEpoch(Math.toIntExact(this.progress.step() / this.schedule.stepsPerEpoch()));
		}
		if (this.checkpoints != null) {
			this.checkpoints.finish();
		}
	}

	private void runEpoch(int epoch) {
		int[] order = this.schedule.order(epoch);
		int stepInEpoch = Math.toIntExact(this.progress.step() % this.schedule.stepsPerEpoch());
		while (stepInEpoch < this.schedule.stepsPerEpoch() && !this.stopped) {
			boolean stop = runStep(order, epoch, stepInEpoch++);
			if (stepInEpoch == this.schedule.stepsPerEpoch()) {
				endEpoch(epoch);
			}
			endStep(stop, stepInEpoch == this.schedule.stepsPerEpoch());
		}
	}

	/** Returns whether the ranks have agreed to stop after this step. */
	private boolean runStep(int[] order, int epoch, int stepInEpoch) {
		long start = System.nanoTime();
		long dataNanos = this.replica.selectionNanos();
		long waitedNanos = this.replica.replicas().waitedNanos();
		int batch = this.schedule.batchSize(stepInEpoch);
		TrainingStep step = new TrainingStep(this.progress.step(), epoch, this.schedule.stepsPerEpoch(),
				this.options.epochs());
		int[] samples = this.schedule.samples(order, stepInEpoch, this.group.rank());
		StepTotals all = this.replica.learn(step, samples, batch, this.stopReason.get() != null);
		this.progress = this.progress.plus(all.lossSum(), batch);
		this.divergence.step(this.progress.step(), all.lossSum());
		this.trainedSamples += batch;
		long nanos = System.nanoTime() - start;
		this.trainingNanos += nanos;
		this.listener.step(this.progress.step(), all.lossSum() / batch);
		this.listener.timed(new StepTimes(batch, nanos, this.replica.selectionNanos() - dataNanos,
				this.replica.replicas().waitedNanos() - waitedNanos));
		return all.stop();
	}

	private void endEpoch(int epoch) {
		this.listener.epochDone(new EpochResult(epoch + 1, this.options.epochs(), this.progress.meanLoss(),
				this.test.metric(), this.test.score(this.progress.step())));
		this.divergence.epoch(epoch + 1, this.progress.meanLoss());
		this.progress = this.progress.atNextEpoch();
	}

	private void endStep(boolean stop, boolean epochEnd) {
		boolean last = this.progress.step() == totalSteps();
		if (last) {
			checkEnd();
		}
		this.stopped = stop && !last;
		if (this.stopped) {
			String reason = this.stopReason.get();
			this.listener.stopping(this.progress.step(), (reason != null) ? reason : ANOTHER_RANK);
		}
		if (this.checkpoints == null) {
			return;
		}
		this.checkpoints.poll();
		if (last || this.stopped || isCheckpointDue(epochEnd)) {
			this.checkpoints.save(this.progress);
		}
	}

	private void checkEnd() {
		if (this.measuresTrainingLoss) {
			this.divergence.end(trainingLoss());
		}
	}

	/** Mean loss of the model over the training samples. A collective call. */
	private double trainingLoss() {
		Share share = Share.of(this.schedule.samples(), this.group.rank(), this.group.worldSize());
		double[] lossSum = { this.replica.lossSum(share) };
		this.group.allReduce(lossSum, ReduceOp.SUM);
		return lossSum[0] / this.schedule.samples();
	}

	private boolean isCheckpointDue(boolean epochEnd) {
		int every = this.options.checkpoint().every();
		return (every > 0) ? this.progress.step() % every == 0 : epochEnd;
	}

	private void checkpointed(SavedCheckpoint saved) {
		this.checkpointSeconds += saved.waitedSeconds();
		this.listener.checkpointed(saved);
	}

	/**
	 * Evaluates the test samples and compares the ranks' parameters. A collective call.
	 */
	TrainingSummary summarise() {
		double seconds = this.trainingNanos / 1e9;
		double communication = this.replica.replicas().waitedNanos() / 1e9;
		long steps = this.progress.step();
		return new TrainingSummary(this.group.worldSize(), this.group.backend(),
				Math.toIntExact(steps / this.schedule.stepsPerEpoch()), steps, this.test.metric(),
				this.test.score(steps), (seconds > 0) ? this.trainedSamples / seconds : 0,
				this.replica.replicas().allReducedBytes() + this.test.allReducedBytes(), seconds, communication,
				ParameterAgreement.require(this.group, this.replica.stateSha256()), this.stopped,
				this.checkpointSeconds);
	}

	private long totalSteps() {
		return (long) this.options.epochs() * this.schedule.stepsPerEpoch();
	}

	@Override
	public void close() {
		if (this.checkpoints != null) {
			this.checkpoints.close();
		}
		this.replica.close();
	}

}
