package io.tutti.engine.backend.libmpi;

import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * The binary interface of a family of MPI libraries: handle layout and predefined
 * handles. Handles are {@code long}s here, regardless of their native size.
 *
 * @param family the value of {@code tutti.mpi.library} that asks for it
 * @param handle native layout of a handle
 * @param types handles of the types; of 16-bit integers for 16-bit floats, since MPI has
 * no 16-bit floats
 * @param operators handles of the predefined operators; of the sum for the average
 * @param inPlace the address {@code MPI_IN_PLACE}
 * @param tagUpperBound attribute key {@code MPI_TAG_UB} of the largest tag
 * @param truncated error class {@code MPI_ERR_TRUNCATE}: a message is larger than its
 * buffer
 * @param statusSource offset of the source in a status
 * @param statusTag offset of the tag in a status
 */
record MpiAbi(String family, ValueLayout handle, long commWorld, long errorsReturn, Map<DataType, Long> types,
		Map<ReduceOp, Long> operators, int anySource, int anyTag, long inPlace, int tagUpperBound, int truncated,
		int statusSource, int statusTag) {

	/**
	 * A type or operator that both families define.
	 *
	 * @param symbol Open MPI's symbol without its prefix
	 * @param mpich MPICH's handle
	 */
	private record Predefined(String symbol, long mpich) {

		static Predefined of(DataType type) {
			return switch (type) {
				case FLOAT32 -> new Predefined("float", 0x4c00040a);
				case FLOAT64 -> new Predefined("double", 0x4c00080b);
				case FLOAT16, BFLOAT16 -> new Predefined("uint16_t", 0x4c00023c);
				case INT8 -> new Predefined("int8_t", 0x4c000137);
				case UINT8 -> new Predefined("uint8_t", 0x4c00013b);
				case INT32 -> new Predefined("int32_t", 0x4c000439);
				case INT64 -> new Predefined("int64_t", 0x4c00083a);
			};
		}

		static Predefined of(ReduceOp op) {
			return switch (op) {
				case MAX -> new Predefined("op_max", 0x58000001);
				case MIN -> new Predefined("op_min", 0x58000002);
				case SUM, AVERAGE -> new Predefined("op_sum", 0x58000003);
				case PRODUCT -> new Predefined("op_prod", 0x58000004);
				case LOGICAL_AND -> new Predefined("op_land", 0x58000005);
				case BITWISE_AND -> new Predefined("op_band", 0x58000006);
				case LOGICAL_OR -> new Predefined("op_lor", 0x58000007);
				case BITWISE_OR -> new Predefined("op_bor", 0x58000008);
				case LOGICAL_XOR -> new Predefined("op_lxor", 0x58000009);
				case BITWISE_XOR -> new Predefined("op_bxor", 0x5800000a);
			};
		}

	}

	/** Open MPI: handles are pointers to objects of the library. */
	static MpiAbi openMpi(SymbolLookup symbols) {
		ToLongFunction<String> address = (symbol) -> symbols.findOrThrow("ompi_mpi_" + symbol).address();
		ToLongFunction<Predefined> handle = (predefined) -> address.applyAsLong(predefined.symbol());
		return new MpiAbi("openmpi", ValueLayout.JAVA_LONG, address.applyAsLong("comm_world"),
				address.applyAsLong("errors_return"), handles(DataType.values(), Predefined::of, handle),
				handles(ReduceOp.values(), Predefined::of, handle), -1, -1, 1, 0, 15, 0, 4);
	}

	/**
	 * MPICH and libraries with its binary interface: handles are integers that encode the
	 * object.
	 */
	static MpiAbi mpich() {
		return new MpiAbi("mpich", ValueLayout.JAVA_INT, 0x44000000, 0x54000001,
				handles(DataType.values(), Predefined::of, Predefined::mpich),
				handles(ReduceOp.values(), Predefined::of, Predefined::mpich), -2, -1, -1, 0x64400001, 14, 8, 12);
	}

	private static <E> Map<E, Long> handles(E[] keys, Function<E, Predefined> of, ToLongFunction<Predefined> handle) {
		return Stream.of(keys)
			.collect(Collectors.toMap(Function.identity(), (key) -> handle.applyAsLong(of.apply(key))));
	}

	long type(DataType type) {
		return this.types.get(type);
	}

	long op(ReduceOp op) {
		return this.operators.get(op);
	}

}
