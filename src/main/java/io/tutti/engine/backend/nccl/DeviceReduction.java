package io.tutti.engine.backend.nccl;

import io.tutti.ReduceOp;

/**
 * A reduction of operands in device memory.
 */
public sealed interface DeviceReduction {

	/** An operator that host memory supports as well. */
	static DeviceReduction of(ReduceOp op) {
		return new Plain(op);
	}

	/** The sum of all operands, each first multiplied by its rank's factor. */
	static DeviceReduction premultipliedSum(double factor) {
		return new PremultipliedSum(factor);
	}

	/**
	 * An operator without a parameter.
	 *
	 * @param op the operator
	 */
	record Plain(ReduceOp op) implements DeviceReduction {
	}

	/**
	 * A sum of pre-multiplied operands.
	 *
	 * @param factor this rank's factor, rounded to the operands' type
	 */
	record PremultipliedSum(double factor) implements DeviceReduction {
	}

}
