package io.tutti.engine.algorithm.kernel;

import io.tutti.DataType;

/**
 * Scalar loops for every element type; they run on any JVM.
 */
final class ScalarKernels {

	static final String NAME = "scalar";

	private ScalarKernels() {
	}

	static Loops of(DataType type) {
		return switch (type) {
			case FLOAT32 -> ScalarFloat32.loops();
			case FLOAT64 -> ScalarFloat64.loops();
			case FLOAT16 -> ScalarFloat16.loops();
			case BFLOAT16 -> ScalarBFloat16.loops();
			case INT8 -> ScalarInt8.signed();
			case UINT8 -> ScalarInt8.unsigned();
			case INT32 -> ScalarInt32.loops();
			case INT64 -> ScalarInt64.loops();
		};
	}

}
