package io.tutti.training.job;

import java.util.Locale;

/**
 * Detects that a training has diverged. The baseline is the loss before the first step,
 * or the loss of equal probabilities for all classes if that is larger. A training can
 * recover from a step or an epoch above the baseline. A finite loss therefore counts only
 * if it is many times the baseline and grows from epoch to epoch, or if it is above the
 * baseline at the end. All ranks see the same losses, so all throw after the same step.
 */
final class DivergenceCheck {

	/**
	 * By how many times its size an epoch's loss may be above the baseline. One of ten
	 * times the baseline means confident wrong predictions.
	 */
	private static final double PLAUSIBLE = 9;

	/**
	 * Rounding: a training that changes nothing may end slightly above its initial loss.
	 */
	private static final double SLACK = 0.01;

	/** A loss before the first step that was not measured. */
	static final double UNKNOWN = Double.POSITIVE_INFINITY;

	private final double before;

	private final String advice;

	private double lastEpoch;

	/**
	 * A check of a training.
	 * @param loss mean loss over the training samples before the first step;
	 * {@link #UNKNOWN} to check only that losses are finite
	 * @param guessing mean loss of a model that guesses
	 * @param lastEpoch mean loss of the epoch before, infinite before the first
	 * @param advice what to change after a divergence
	 */
	DivergenceCheck(double loss, double guessing, double lastEpoch, String advice) {
		this.before = Math.max(loss, guessing);
		this.lastEpoch = lastEpoch;
		this.advice = advice;
	}

	/**
	 * Checks the loss of a step.
	 * @throws TrainingDivergedException if the loss is not a finite number
	 */
	void step(long step, double loss) {
		if (!Double.isFinite(loss)) {
			throw diverged("the loss is " + loss + " at step " + step);
		}
	}

	/**
	 * Checks the parameters after a step. The loss of a step is that before its update.
	 * @throws TrainingDivergedException if a value is not a finite number on any rank
	 */
	void parameters(long step, boolean finite) {
		if (!finite) {
			throw diverged("parameters are not finite after step " + step + ", though its loss was");
		}
	}

	/**
	 * Checks the loss of an epoch.
	 * @param epoch number of the epoch, from 1
	 * @param loss mean loss over its samples
	 * @throws TrainingDivergedException if the loss is implausibly large and larger than
	 * that of the previous epoch
	 */
	void epoch(int epoch, double loss) {
		if (isAbove(PLAUSIBLE, loss) && this.before != 0 && loss > this.lastEpoch) {
			throw diverged("the loss grew from " + shown(this.lastEpoch) + " to " + shown(loss) + " in epoch " + epoch);
		}
		this.lastEpoch = loss;
	}

	/**
	 * Checks the loss at the end.
	 * @param loss mean loss of the trained model over the training samples
	 * @throws TrainingDivergedException if the model is worse on the samples it was
	 * trained on than before the training
	 */
	void end(double loss) {
		if (isAbove(SLACK, loss)) {
			throw diverged("the trained model has a loss of " + shown(loss) + " on its training samples");
		}
	}

	/**
	 * Whether a loss is no number, or above the baseline by more than a part of its size.
	 * The loss of a likelihood can be negative; one of 0 has no size to compare with.
	 */
	private boolean isAbove(double part, double loss) {
		return !(loss <= this.before + part * Math.abs(this.before));
	}

	private TrainingDivergedException diverged(String what) {
		return new TrainingDivergedException("the training diverged: " + what
				+ ((this.before < UNKNOWN) ? ", and before the first step it was " + shown(this.before) : "") + ". "
				+ this.advice);
	}

	private static String shown(double loss) {
		return String.format(Locale.ROOT, "%.4g", loss);
	}

}
