package io.tutti.training;

import java.util.concurrent.atomic.AtomicReference;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
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

	private final SampleTensors samples;

	private final @Nullable CheckpointStore checkpoints;

	private final JobFingerprint job;

	private final DivergenceCheck divergence;

	private Progress progress = Progress.NONE;

	private boolean stopped;

	private long trainedSamples;

	private long trainingNanos;

	TrainingLoop(ProcessGroup group, TrainingOptions options, TrainingListener listener,
			AtomicReference<@Nullable String> stopReason, JobFingerprint job, DataSplit split, TrainingDevice device) {
		this.group = group;
		this.options = options;
		this.listener = listener;
		this.stopReason = stopReason;
		this.job = job;
		Dataset training = split.training();
		this.schedule = new BatchSchedule(training.rows(), options.globalBatch(), group.worldSize(), options.seed());
		this.samples = new SampleTensors(training, device);
		this.replica = new Replica(group, training.columns(), training.classes(), options, device);
		this.test = new TestRun(group, split.test(), this.replica, device);
		this.divergence = new DivergenceCheck(trainingLoss(), training.classes(), options.learningRate());
		this.checkpoints = (options.checkpointDirectory() != null)
				? new CheckpointStore(group, options.checkpointDirectory()) : null;
	}

	/** Restores the checkpoint, if any, and passes the plan to the listener. */
	void restore(String data) {
		Checkpoint kept = (this.checkpoints != null) ? this.checkpoints.restore(this.job) : null;
		if (kept != null) {
			this.replica.restore(kept.parameters(), kept.optimizer());
			this.progress = kept.progress();
		}
		this.listener.started(new TrainingPlan(this.group.rank(), this.group.worldSize(), this.group.backend(), data,
				this.schedule.samples(), this.test.samples(), this.replica.replicas().parameterCount(),
				this.options.epochs(), totalSteps(), this.progress.step()));
	}

	void run() {
		if (this.progress.step() == totalSteps()) {
			this.divergence.end(trainingLoss());
		}
		while (this.progress.step() < totalSteps() && !this.stopped) {
			runEpoch(Math.toIntExact(this.progress.step() / this.schedule.stepsPerEpoch()));
		}
	}

	private void runEpoch(int epoch) {
		this.replica.beginEpoch(epoch);
		int[] order = this.schedule.order(epoch);
		int stepInEpoch = Math.toIntExact(this.progress.step() % this.schedule.stepsPerEpoch());
		while (stepInEpoch < this.schedule.stepsPerEpoch() && !this.stopped) {
			boolean stop = runStep(order, stepInEpoch++);
			if (stepInEpoch == this.schedule.stepsPerEpoch()) {
				endEpoch(epoch);
			}
			endStep(stop, stepInEpoch == this.schedule.stepsPerEpoch());
		}
	}

	/** Returns whether the ranks have agreed to stop after this step. */
	private boolean runStep(int[] order, int stepInEpoch) {
		long start = System.nanoTime();
		long dataNanos = this.samples.selectionNanos();
		long waitedNanos = this.replica.replicas().waitedNanos();
		int batch = this.schedule.batchSize(stepInEpoch);
		Share share = this.schedule.share(stepInEpoch, this.group.rank());
		StepTotals all = this.replica.learn(this.samples, order, share, batch, this.stopReason.get() != null);
		this.progress = this.progress.plus(all.lossSum(), batch);
		this.divergence.step(this.progress.step(), all.lossSum());
		this.trainedSamples += batch;
		long nanos = System.nanoTime() - start;
		this.trainingNanos += nanos;
		this.listener.step(this.progress.step(), all.lossSum() / batch);
		this.listener.timed(new StepTimes(batch, nanos, this.samples.selectionNanos() - dataNanos,
				this.replica.replicas().waitedNanos() - waitedNanos));
		return all.stop();
	}

	private void endEpoch(int epoch) {
		this.listener.epochDone(new EpochResult(epoch + 1, this.options.epochs(), this.progress.meanLoss(),
				this.test.accuracy(this.progress.step())));
		this.divergence.epoch(epoch + 1, this.progress.meanLoss());
		this.progress = this.progress.atNextEpoch();
	}

	private void endStep(boolean stop, boolean epochEnd) {
		boolean last = this.progress.step() == totalSteps();
		if (last) {
			this.divergence.end(trainingLoss());
		}
		this.stopped = stop && !last;
		if (this.stopped) {
			String reason = this.stopReason.get();
			this.listener.stopping(this.progress.step(), (reason != null) ? reason : ANOTHER_RANK);
		}
		if (last || this.stopped || isCheckpointDue(epochEnd)) {
			keepCheckpoint();
		}
	}

	/** Mean loss of the model over the training samples. A collective call. */
	private double trainingLoss() {
		Share share = Share.of(this.schedule.samples(), this.group.rank(), this.group.worldSize());
		double[] lossSum = { this.replica.lossSum(this.samples, share) };
		this.group.allReduce(lossSum, ReduceOp.SUM);
		return lossSum[0] / this.schedule.samples();
	}

	private boolean isCheckpointDue(boolean epochEnd) {
		int every = this.options.checkpointEvery();
		return (every > 0) ? this.progress.step() % every == 0 : epochEnd;
	}

	private void keepCheckpoint() {
		if (this.checkpoints == null || this.group.rank() != 0) {
			return;
		}
		this.checkpoints.write(
				new Checkpoint(this.job, this.progress, this.replica.parameterBytes(), this.replica.optimizerBytes()));
		this.listener.checkpointed(this.checkpoints.file(), this.progress.step());
	}

	/**
	 * Evaluates the test samples and compares the ranks' parameters. A collective call.
	 */
	TrainingSummary summarise() {
		double seconds = this.trainingNanos / 1e9;
		double communication = this.replica.replicas().waitedNanos() / 1e9;
		long steps = this.progress.step();
		return new TrainingSummary(this.group.worldSize(), this.group.backend(),
				Math.toIntExact(steps / this.schedule.stepsPerEpoch()), steps, this.test.accuracy(steps),
				(seconds > 0) ? this.trainedSamples / seconds : 0,
				this.replica.replicas().allReducedBytes() + this.test.allReducedBytes(), seconds, communication,
				ParameterAgreement.require(this.group, this.replica.parameterSha256()), this.stopped);
	}

	private long totalSteps() {
		return (long) this.options.epochs() * this.schedule.stepsPerEpoch();
	}

	@Override
	public void close() {
		this.test.close();
		this.replica.close();
		this.samples.close();
	}

}
