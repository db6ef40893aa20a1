package io.tutti.engine.backend.nccl;

import io.tutti.engine.ReduceOp;

/**
 * How operands in device memory become one result.
 */
public sealed interface DeviceReduction {

	/** One of the operators that host memory has as well. */
	static DeviceReduction of(ReduceOp op) {
		return new Plain(op);
	}

	/** The sum of all operands, each multiplied by its rank's own factor first. */
	static DeviceReduction premultipliedSum(double factor) {
		return new PremultipliedSum(factor);
	}

	/**
	 * An operator that needs nothing else.
	 *
	 * @param op the operator
	 */
	record Plain(ReduceOp op) implements DeviceReduction {
	}

	/**
	 * The sum of operands that are multiplied first.
	 *
	 * @param factor this rank's factor, rounded to the operands' type
	 */
	record PremultipliedSum(double factor) implements DeviceReduction {
	}

}
