package io.tutti.engine.backend.nccl;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceDataType;
import org.jspecify.annotations.Nullable;

/**
 * NCCL's codes for types, operators and flags.
 */
final class NcclCodes {

	/** Color of a rank that joins no part of a split. */
	static final int NO_COLOR = -1;

	/** Shrink waits for the parent's calls in progress. */
	static final int SHRINK_DEFAULT = 0;

	/** Shrink aborts the parent's calls in progress. */
	static final int SHRINK_ABORT = 1;

	private NcclCodes() {
	}

	/**
	 * Checks that NCCL has a collective and its operator.
	 * @param op {@code null} without a reduction
	 * @throws UnsupportedOperationException if it lacks either
	 */
	static void requireSupported(Collective collective, @Nullable ReduceOp op) {
		if (collective == Collective.SCAN || collective == Collective.EXCLUSIVE_SCAN) {
			throw new UnsupportedOperationException("NCCL has no " + collective + "; use buffers in host memory");
		}
		if (op != null) {
			of(op);
		}
	}

	static int of(DeviceDataType type) {
		return switch (type) {
			case INT8 -> 0;
			case UINT8 -> 1;
			case INT32 -> 2;
			case UINT32 -> 3;
			case INT64 -> 4;
			case UINT64 -> 5;
			case FLOAT16 -> 6;
			case FLOAT32 -> 7;
			case FLOAT64 -> 8;
			case BFLOAT16 -> 9;
			case FLOAT8_E4M3 -> 10;
			case FLOAT8_E5M2 -> 11;
		};
	}

	static int of(ReduceOp op) {
		return switch (op) {
			case SUM -> 0;
			case PRODUCT -> 1;
			case MAX -> 2;
			case MIN -> 3;
			case AVERAGE -> 4;
			case BITWISE_AND, BITWISE_OR, BITWISE_XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR ->
				throw new UnsupportedOperationException("NCCL has no operator " + op + "; use buffers in host memory");
		};
	}

}
