package io.tutti.engine.algorithm.kernel;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * Expected results of the kernels, computed with big integers. Elements are bit patterns
 * in the lower bits of a long.
 */
interface ExactArithmetic {

	/** Left op right; an average combines as a sum. */
	long combine(ReduceOp op, long left, long right);

	/** The last step of an average. */
	long divide(long value, int divisor);

	/** Bit patterns at the limits of the type. */
	long[] edges();

	static ExactArithmetic of(DataType type) {
		return switch (type) {
			case FLOAT32 -> new ExactFloats(BinaryFormat.BINARY32, BinaryFormat.BINARY32);
			case FLOAT64 -> new ExactFloats(BinaryFormat.BINARY64, BinaryFormat.BINARY64);
			case FLOAT16 -> new ExactFloats(BinaryFormat.BINARY16, BinaryFormat.BINARY32);
			case BFLOAT16 -> new ExactFloats(BinaryFormat.BFLOAT16, BinaryFormat.BINARY32);
			case INT8 -> new ExactIntegers(8, true);
			case UINT8 -> new ExactIntegers(8, false);
			case INT32 -> new ExactIntegers(32, true);
			case INT64 -> new ExactIntegers(64, true);
		};
	}

}
