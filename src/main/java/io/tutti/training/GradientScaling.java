package io.tutti.training;

import io.tutti.engine.ReduceOp;

/**
 * How the ranks' gradients become one.
 */
public enum GradientScaling {

	/**
	 * The mean over ranks: right where each rank's loss is a mean over its own samples,
	 * and all ranks have equally many.
	 */
	AVERAGE(ReduceOp.AVERAGE),
	/**
	 * The sum over ranks: right where each rank's loss is a sum over its samples divided
	 * by the number of samples of all ranks, however unevenly they are shared.
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
