package io.tutti.engine.backend.nccl;

import io.tutti.engine.ReduceOp;
import io.tutti.engine.device.DeviceDataType;

/**
 * NCCL's numbers for types, operators and flags.
 */
final class NcclCodes {

	/** Colour of a rank that wants to be in no part. */
	static final int NO_COLOR = -1;

	/** What is under way on the parent is to be waited for. */
	static final int SHRINK_DEFAULT = 0;

	/** What is under way on the parent is lost already. */
	static final int SHRINK_ABORT = 1;

	private NcclCodes() {
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
		};
	}

}
