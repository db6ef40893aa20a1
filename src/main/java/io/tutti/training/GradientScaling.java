package io.tutti.training;

import io.tutti.ReduceOp;

/**
 * How the ranks' gradients are combined.
 */
public enum GradientScaling {

	/**
	 * The mean over ranks. Correct if each rank's loss is the mean over its own samples
	 * and all ranks have the same number of samples.
	 */
	AVERAGE(ReduceOp.AVERAGE),
	/**
	 * The sum over ranks. Correct if each rank's loss is the sum over its samples divided
	 * by the number of samples of all ranks, also for shares of different size.
	 */
	SUM(ReduceOp.SUM);

	private final ReduceOp op;

	GradientScaling(ReduceOp op) {
		this.op = op;
	}

	ReduceOp op() {
		return this.op;
	}

}
