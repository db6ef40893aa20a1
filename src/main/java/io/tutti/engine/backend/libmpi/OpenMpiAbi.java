package io.tutti.engine.backend.libmpi;

import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * Open MPI: handles are pointers to objects of the library.
 */
record OpenMpiAbi(SymbolLookup symbols) implements MpiAbi {

	/** A symbol that only Open MPI exports. */
	static final String MARK = "ompi_mpi_comm_world";

	@Override
	public String name() {
		return "Open MPI";
	}

	@Override
	public ValueLayout handle() {
		return ValueLayout.JAVA_LONG;
	}

	@Override
	public long commWorld() {
		return address(MARK);
	}

	@Override
	public long errorsReturn() {
		return address("ompi_mpi_errors_return");
	}

	@Override
	public long type(DataType type) {
		return address(switch (type) {
			case FLOAT32 -> "ompi_mpi_float";
			case FLOAT64 -> "ompi_mpi_double";
			case FLOAT16, BFLOAT16 -> "ompi_mpi_uint16_t";
			case INT8 -> "ompi_mpi_int8_t";
			case UINT8 -> "ompi_mpi_uint8_t";
			case INT32 -> "ompi_mpi_int32_t";
			case INT64 -> "ompi_mpi_int64_t";
		});
	}

	@Override
	public long op(ReduceOp op) {
		return address(switch (op) {
			case SUM, AVERAGE -> "ompi_mpi_op_sum";
			case PRODUCT -> "ompi_mpi_op_prod";
			case MIN -> "ompi_mpi_op_min";
			case MAX -> "ompi_mpi_op_max";
			case BITWISE_AND -> "ompi_mpi_op_band";
			case BITWISE_OR -> "ompi_mpi_op_bor";
			case BITWISE_XOR -> "ompi_mpi_op_bxor";
			case LOGICAL_AND -> "ompi_mpi_op_land";
			case LOGICAL_OR -> "ompi_mpi_op_lor";
			case LOGICAL_XOR -> "ompi_mpi_op_lxor";
		});
	}

	@Override
	public int anySource() {
		return -1;
	}

	@Override
	public int anyTag() {
		return -1;
	}

	@Override
	public long inPlace() {
		return 1;
	}

	@Override
	public int tagUpperBound() {
		return 0;
	}

	@Override
	public int truncated() {
		return 15;
	}

	@Override
	public int statusSource() {
		return 0;
	}

	@Override
	public int statusTag() {
		return 4;
	}

	private long address(String symbol) {
		return this.symbols.findOrThrow(symbol).address();
	}

}
