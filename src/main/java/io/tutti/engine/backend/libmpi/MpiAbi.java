package io.tutti.engine.backend.libmpi;

import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.function.ToLongFunction;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * The binary interface of a family of MPI libraries: handle layout and predefined
 * handles. Handles are {@code long}s here, regardless of their native size.
 *
 * @param family the value of {@code tutti.mpi.library} that asks for it
 * @param handle native layout of a handle
 * @param types handles of the types
 * @param operators handles of the predefined operators
 * @param inPlace the address {@code MPI_IN_PLACE}
 * @param tagUpperBound attribute key {@code MPI_TAG_UB} of the largest tag
 * @param truncated error class {@code MPI_ERR_TRUNCATE}: a message is larger than its
 * buffer
 * @param statusSource offset of the source in a status
 * @param statusTag offset of the tag in a status
 */
record MpiAbi(String family, ValueLayout handle, long commWorld, long errorsReturn, ToLongFunction<DataType> types,
		ToLongFunction<ReduceOp> operators, int anySource, int anyTag, long inPlace, int tagUpperBound, int truncated,
		int statusSource, int statusTag) {

	/** A symbol that only Open MPI exports. */
	static final String OPEN_MPI_MARK = "ompi_mpi_comm_world";

	/** Open MPI: handles are pointers to objects of the library. */
	static MpiAbi openMpi(SymbolLookup symbols) {
		return new MpiAbi("openmpi", ValueLayout.JAVA_LONG, address(symbols, OPEN_MPI_MARK),
				address(symbols, "ompi_mpi_errors_return"), (type) -> address(symbols, openMpiType(type)),
				(op) -> address(symbols, openMpiOperator(op)), -1, -1, 1, 0, 15, 0, 4);
	}

	private static long address(SymbolLookup symbols, String symbol) {
		return symbols.findOrThrow(symbol).address();
	}

	private static String openMpiType(DataType type) {
		return switch (type) {
			case FLOAT32 -> "ompi_mpi_float";
			case FLOAT64 -> "ompi_mpi_double";
			case FLOAT16, BFLOAT16 -> "ompi_mpi_uint16_t";
			case INT8 -> "ompi_mpi_int8_t";
			case UINT8 -> "ompi_mpi_uint8_t";
			case INT32 -> "ompi_mpi_int32_t";
			case INT64 -> "ompi_mpi_int64_t";
		};
	}

	private static String openMpiOperator(ReduceOp op) {
		return switch (op) {
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
		};
	}

	/**
	 * MPICH and libraries with its binary interface: handles are integers that encode the
	 * object.
	 */
	static MpiAbi mpich() {
		return new MpiAbi("mpich", ValueLayout.JAVA_INT, 0x44000000, 0x54000001, MpiAbi::mpichType,
				MpiAbi::mpichOperator, -2, -1, -1, 0x64400001, 14, 8, 12);
	}

	private static long mpichType(DataType type) {
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

	private static long mpichOperator(ReduceOp op) {
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

	/**
	 * Handle of a type. 16-bit floats map to 16-bit integers, since MPI has no 16-bit
	 * floats.
	 */
	long type(DataType type) {
		return this.types.applyAsLong(type);
	}

	/** The predefined operator; for {@link ReduceOp#AVERAGE} the sum. */
	long op(ReduceOp op) {
		return this.operators.applyAsLong(op);
	}

}
