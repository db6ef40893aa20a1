package io.tutti.service.recorder;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.tutti.training.checkpoint.SavedCheckpoint;
import io.tutti.training.job.EpochResult;
import io.tutti.training.job.StepTimes;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingPlan;
import io.tutti.training.job.TrainingSummary;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the progress and the speed of this process's training job, for the meters and
 * the page. Thread-safe.
 */
public final class TrainingWatch implements TrainingListener {

	private static final long MARK_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final int MARKS = 30;

	/** Totals at a time. */
	private record Mark(long atNanos, long steps, StepTimes times) {
	}

	private final LongSupplier nanoClock;

	private final Deque<Mark> marks = new ArrayDeque<>();

	private @Nullable TrainingPlan plan;

	private @Nullable EpochResult epoch;

	private long step;

	private double loss = Double.NaN;

	private @Nullable String state;

	private long steps;

	private StepTimes times = StepTimes.NONE;

	private long repeatedSteps;

	private long checkpoints;

	private double checkpointSeconds;

	private @Nullable Long endedNanos;

	public TrainingWatch() {
		this(System::nanoTime);
	}

	TrainingWatch(LongSupplier nanoClock) {
		this.nanoClock = nanoClock;
	}

	@Override
	public synchronized void started(TrainingPlan plan) {
		this.step = plan.firstStep();
		this.plan = plan;
		mark();
	}

	@Override
	public synchronized void repeated(long steps) {
		this.repeatedSteps = steps;
	}

	@Override
	public synchronized void step(long step, double loss) {
		this.loss = loss;
		this.step = step;
	}

	@Override
	public synchronized void timed(StepTimes times) {
		this.steps++;
		this.times = this.times.plus(times);
		if (this.marks.isEmpty() || this.nanoClock.getAsLong() - this.marks.getLast().atNanos() >= MARK_NANOS) {
			mark();
		}
	}

	private void mark() {
		this.marks.addLast(new Mark(this.nanoClock.getAsLong(), this.steps, this.times));
		if (this.marks.size() > MARKS) {
			this.marks.removeFirst();
		}
	}

	@Override
	public synchronized void epochDone(EpochResult result) {
		this.epoch = result;
	}

	@Override
	public synchronized void checkpointed(SavedCheckpoint saved) {
		this.checkpoints++;
		this.checkpointSeconds += saved.waitedSeconds();
	}

	@Override
	public synchronized void stopping(long step, String reason) {
		this.state = "stopping: " + reason;
	}

	@Override
	public synchronized void finished(TrainingSummary summary) {
		this.endedNanos = this.nanoClock.getAsLong();
		this.state = summary.stopped() ? "stopped" : "done";
	}

	/** Number of steps of the job that were begun again after a lost rank. */
	public synchronized long repeatedSteps() {
		return this.repeatedSteps;
	}

	/** Number of complete checkpoints that this process has written. */
	public synchronized long checkpoints() {
		return this.checkpoints;
	}

	/** Seconds for which training waited for these checkpoints. */
	public synchronized double checkpointSeconds() {
		return this.checkpointSeconds;
	}

	/** The progress, {@code null} if no training has started. */
	public synchronized @Nullable TrainingProgress progress() {
		TrainingPlan known = this.plan;
		if (known == null) {
			return null;
		}
		return new TrainingProgress(known, this.step, this.epoch, Double.isFinite(this.loss) ? this.loss : null,
				this.state, speed(known));
	}

	/** Steps of this process. */
	public synchronized long steps() {
		return this.steps;
	}

	/** Total times of the steps of this process. */
	public synchronized StepTimes times() {
		return this.times;
	}

	/**
	 * The speed over about the last {@value #MARKS} seconds, in which evaluations,
	 * checkpoints and stalls count; {@code null} before the first step.
	 */
	private @Nullable TrainingSpeed speed(TrainingPlan plan) {
		Mark first = this.marks.getFirst();
		long lately = this.steps - first.steps();
		Long ended = this.endedNanos;
		double seconds = (((ended != null) ? ended : this.nanoClock.getAsLong()) - first.atNanos()) / 1e9;
		if (lately == 0 || seconds <= 0) {
			return null;
		}
		StepTimes part = this.times.minus(first.times());
		double nanos = Math.max(1, part.nanos());
		return new TrainingSpeed(part.samples() / seconds, part.nanos() / 1e9 / lately, part.exposedNanos() / nanos,
				part.dataNanos() / nanos, (ended != null) ? 0 : (plan.totalSteps() - this.step) * seconds / lately);
	}

}
