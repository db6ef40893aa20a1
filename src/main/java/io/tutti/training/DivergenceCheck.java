package io.tutti.training;

import java.util.Locale;

/**
 * Tells a training that has diverged. Its measure is the loss before the first step, or
 * that of a guess which gives all classes the same probability if that is larger. A step
 * or an epoch may be worse than that and the training recover, so a finite loss counts
 * only where it can no longer be anything else: many times the measure and growing from
 * epoch to epoch, or above the measure in the end. All ranks see the same losses, so all
 * throw after the same step.
 */
final class DivergenceCheck {

	/** An epoch's loss this many times the measure is of wrong answers held certain. */
	private static final double IMPLAUSIBLE = 10;

	/** A training that changes nothing may end a rounding above where it began. */
	private static final double SLACK = 1.01;

	private final double before;

	private final double learningRate;

	private double lastEpoch = Double.POSITIVE_INFINITY;

	/**
	 * A check of a training that has not begun.
	 * @param loss mean loss over the training samples before the first step
	 * @param classes how many classes there are
	 * @param learningRate to say which one is too large
	 */
	DivergenceCheck(double loss, int classes, double learningRate) {
		this.before = Math.max(loss, Math.log(classes));
		this.learningRate = learningRate;
	}

	/**
	 * After a step.
	 * @throws TrainingDivergedException if the loss is not a finite number
	 */
	void step(long step, double loss) {
		if (!Double.isFinite(loss)) {
			throw diverged("the loss is " + loss + " at step " + step);
		}
	}

	/**
	 * After an epoch.
	 * @param epoch which one, from 1
	 * @param loss mean loss over its samples
	 * @throws TrainingDivergedException if it is implausible and larger than that of the
	 * epoch before
	 */
	void epoch(int epoch, double loss) {
		if (loss > IMPLAUSIBLE * this.before && loss > this.lastEpoch) {
			throw diverged("the loss grew from " + shown(this.lastEpoch) + " to " + shown(loss) + " in epoch " + epoch);
		}
		this.lastEpoch = loss;
	}

	/**
	 * At the end.
	 * @param loss mean loss of the trained model over the training samples
	 * @throws TrainingDivergedException if the model is worse on the samples it was
	 * trained on than before the training
	 */
	void end(double loss) {
		if (!(loss <= SLACK * this.before)) {
			throw diverged("the trained model has a loss of " + shown(loss) + " on its training samples");
		}
	}

	private TrainingDivergedException diverged(String what) {
		return new TrainingDivergedException("the training diverged: " + what + ", and before the first step it was "
				+ shown(this.before) + ". Try a --learning-rate below " + this.learningRate
				+ " or a larger --global-batch, and look for wrong values and classes in the table");
	}

	private static String shown(double loss) {
		return String.format(Locale.ROOT, "%.4g", loss);
	}

}
