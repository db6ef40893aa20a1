package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.NativeMemory;

/**
 * Chooses the reduction operator: the library's own where its semantics match the
 * engine's, otherwise an upcall to the engine's kernels. Only for the library's thread.
 */
final class MpiOperators {

	private static final FunctionDescriptor FUNCTION = FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG,
			ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

	private final long[][] created = new long[DataType.values().length][ReduceOp.values().length];

	/** The operator's handle. */
	long of(DataType type, ReduceOp op, MpiAbi abi, MpiCalls calls) {
		if (!needsKernel(type, op)) {
			return abi.op(op);
		}
		long[] ofType = this.created[type.ordinal()];
		if (ofType[op.ordinal()] == 0) {
			ofType[op.ordinal()] = calls.createOperator(upcall(type, op));
		}
		return ofType[op.ordinal()];
	}

	/**
	 * MPI has no 16-bit floats and does not define minimum and maximum with a NaN. Open
	 * MPI's sums of 8-bit integers saturate, and MPICH compares unsigned ones as signed.
	 */
	private static boolean needsKernel(DataType type, ReduceOp op) {
		return switch (type) {
			case FLOAT16, BFLOAT16, INT8, UINT8 -> true;
			case FLOAT32, FLOAT64 -> op == ReduceOp.MIN || op == ReduceOp.MAX;
			case INT32, INT64 -> false;
		};
	}

	@SuppressWarnings("restricted")
	private static long upcall(DataType type, ReduceOp op) {
		try {
			MethodHandle combine = MethodHandles.lookup()
				.findStatic(MpiOperators.class, "combine", MethodType.methodType(void.class, DataType.class,
						ReduceOp.class, long.class, long.class, long.class, long.class));
			MemorySegment stub = Linker.nativeLinker()
				.upcallStub(MethodHandles.insertArguments(combine, 0, type, op), FUNCTION, Arena.global());
			return stub.address();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("the operator " + op + " of " + type + " cannot be created", ex);
		}
	}

	/** {@code MPI_User_function}: pointers to both operands, the count and the type. */
	private static void combine(DataType type, ReduceOp op, long left, long right, long count, long mpiType) {
		ReductionKernels.get().reduce(type, op, right, left, right, NativeMemory.getInt(count));
	}

}
