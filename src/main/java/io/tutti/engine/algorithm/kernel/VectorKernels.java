package io.tutti.engine.algorithm.kernel;

import java.nio.ByteOrder;

import io.tutti.DataType;
import jdk.incubator.vector.IntVector;

/**
 * Vector loops for every element type, with scalar loops for the tail. Must not be loaded
 * if the JVM lacks its vector module.
 */
final class VectorKernels {

	static final String NAME = "vector";

	/** Bytes per vector on this machine, for all element types. */
	static final long STEP_BYTES = IntVector.SPECIES_PREFERRED.vectorByteSize();

	static final ByteOrder ORDER = ByteOrder.nativeOrder();

	private VectorKernels() {
	}

	static Loops of(DataType type) {
		Loops body = switch (type) {
			case FLOAT32 -> VectorFloat32.loops();
			case FLOAT64 -> VectorFloat64.loops();
			case FLOAT16 -> VectorFloat16.loops();
			case BFLOAT16 -> VectorBFloat16.loops();
			case INT8 -> VectorInt8.signed();
			case UINT8 -> VectorInt8.unsigned();
			case INT32 -> VectorInt32.loops();
			case INT64 -> VectorInt64.loops();
		};
		return body.withTail(ScalarKernels.of(type), STEP_BYTES);
	}

}
