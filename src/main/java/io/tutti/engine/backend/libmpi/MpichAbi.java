package io.tutti.engine.backend.libmpi;

import java.lang.foreign.ValueLayout;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * MPICH and libraries with its binary interface: handles are integers that encode the
 * object.
 */
record MpichAbi() implements MpiAbi {

	@Override
	public String name() {
		return "MPICH";
	}

	@Override
	public ValueLayout handle() {
		return ValueLayout.JAVA_INT;
	}

	@Override
	public long commWorld() {
		return 0x44000000;
	}

	@Override
	public long errorsReturn() {
		return 0x54000001;
	}

	@Override
	public long type(DataType type) {
		return switch (type) {
			case FLOAT32 -> 0x4c00040a;
			case FLOAT64 -> 0x4c00080b;
			case FLOAT16, BFLOAT16 -> 0x4c00023c;
			case INT8 -> 0x4c000137;
			case UINT8 -> 0x4c00013b;
			case INT32 -> 0x4c000439;
			case INT64 -> 0x4c00083a;
		};
	}

	@Override
	public long op(ReduceOp op) {
		return switch (op) {
			case MAX -> 0x58000001;
			case MIN -> 0x58000002;
			case SUM, AVERAGE -> 0x58000003;
			case PRODUCT -> 0x58000004;
			case LOGICAL_AND -> 0x58000005;
			case BITWISE_AND -> 0x58000006;
			case LOGICAL_OR -> 0x58000007;
			case BITWISE_OR -> 0x58000008;
			case LOGICAL_XOR -> 0x58000009;
			case BITWISE_XOR -> 0x5800000a;
		};
	}

	@Override
	public int anySource() {
		return -2;
	}

	@Override
	public int anyTag() {
		return -1;
	}

	@Override
	public long inPlace() {
		return -1;
	}

	@Override
	public int tagUpperBound() {
		return 0x64400001;
	}

	@Override
	public int truncated() {
		return 14;
	}

	@Override
	public int statusSource() {
		return 8;
	}

	@Override
	public int statusTag() {
		return 12;
	}

}
