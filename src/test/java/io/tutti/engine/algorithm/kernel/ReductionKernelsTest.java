package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class ReductionKernelsTest {

	private static final int[] COUNTS = { 0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 1000, 1027 };

	/**
	 * Offsets of target, left and right operands: aligned, and misaligned in different
	 * ways.
	 */
	private static final int[][] OFFSETS = { { 64, 64, 64 }, { 72, 64, 80 }, { 65, 67, 70 } };

	private static final byte UNTOUCHED = 0x5a;

	private final Arena arena = Arena.ofConfined();

	private final MemorySegment target = memory();

	private final MemorySegment left = memory();

	private final MemorySegment right = memory();

	@AfterEach
	void free() {
		this.arena.close();
	}

	static Stream<Arguments> everyKernel() {
		return Stream.of(ReductionKernels.scalar(), ReductionKernels.vector())
			.flatMap((kernels) -> typesAndOperators().map((rest) -> {
				DataType type = (DataType) rest.get()[0];
				return Arguments.argumentSet(kernels.name() + " " + type + " " + rest.get()[1], kernels, type,
						rest.get()[1]);
			}));
	}

	static Stream<Arguments> typesAndOperators() {
		return Arrays.stream(DataType.values())
			.flatMap((type) -> Arrays.stream(ReduceOp.values())
				.filter((op) -> op.appliesTo(type))
				.map((op) -> Arguments.of(type, op)));
	}

	static Stream<Arguments> everyType() {
		return Stream.of(ReductionKernels.scalar(), ReductionKernels.vector())
			.flatMap((kernels) -> Arrays.stream(DataType.values())
				.map((type) -> Arguments.argumentSet(kernels.name() + " " + type, kernels, type)));
	}

	@ParameterizedTest
	@MethodSource("everyKernel")
	void everyResultIsTheRoundedExactResult(ReductionKernels kernels, DataType type, ReduceOp op) {
		Operands operands = Operands.of(type);
		long[] expected = expected(operands, op);
		for (int[] offsets : OFFSETS) {
			for (int count : COUNTS) {
				this.target.fill(UNTOUCHED);
				Operands.write(type, this.left, offsets[1], operands.left(), count);
				Operands.write(type, this.right, offsets[2], operands.right(), count);
				kernels.reduce(type, op, this.target.address() + offsets[0], this.left.address() + offsets[1],
						this.right.address() + offsets[2], count);
				assertResult(type, this.target, offsets[0], expected, count);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("everyKernel")
	void theResultMayReplaceEitherOperand(ReductionKernels kernels, DataType type, ReduceOp op) {
		Operands operands = Operands.of(type);
		long[] expected = expected(operands, op);
		this.left.fill(UNTOUCHED);
		this.right.fill(UNTOUCHED);
		Operands.write(type, this.left, 64, operands.left(), 1027);
		Operands.write(type, this.right, 64, operands.right(), 1027);
		long left = this.left.address() + 64;
		long right = this.right.address() + 64;
		MemorySegment leftBefore = memory().copyFrom(this.left);
		kernels.reduce(type, op, left, left, right, 1027);
		assertResult(type, this.left, 64, expected, 1027);
		this.left.copyFrom(leftBefore);
		kernels.reduce(type, op, right, left, right, 1027);
		assertResult(type, this.right, 64, expected, 1027);
	}

	@ParameterizedTest
	@MethodSource("everyKernel")
	void bothTargetsHoldTheResult(ReductionKernels kernels, DataType type, ReduceOp op) {
		Operands operands = Operands.of(type);
		long[] expected = expected(operands, op);
		for (int count : new int[] { 0, 1, 17, 1027, Operands.COUNT }) {
			MemorySegment second = memory();
			second.fill(UNTOUCHED);
			this.left.fill(UNTOUCHED);
			Operands.write(type, this.left, 65, operands.left(), count);
			Operands.write(type, this.right, 64, operands.right(), count);
			kernels.reduceToBoth(type, op, this.left.address() + 65, second.address() + 66, this.left.address() + 65,
					this.right.address() + 64, count);
			assertResult(type, this.left, 65, expected, count);
			assertResult(type, second, 66, expected, count);
		}
	}

	@ParameterizedTest
	@MethodSource("everyType")
	void anAverageIsTheRoundedExactQuotient(ReductionKernels kernels, DataType type) {
		Operands operands = Operands.of(type);
		ExactArithmetic exact = ExactArithmetic.of(type);
		for (int worldSize : new int[] { 1, 2, 3, 7, 8, 1000 }) {
			long[] expected = Arrays.stream(operands.left()).map((value) -> exact.divide(value, worldSize)).toArray();
			for (int count : COUNTS) {
				this.target.fill(UNTOUCHED);
				Operands.write(type, this.target, 67, operands.left(), count);
				kernels.finish(type, ReduceOp.AVERAGE, this.target.address() + 67, count, worldSize);
				assertResult(type, this.target, 67, expected, count);
			}
		}
	}

	@Test
	void aBitwiseOperatorOnFloatsIsRefusedWithTypeAndOperator() {
		assertThatThrownBy(() -> ReductionKernels.get()
			.reduce(DataType.BFLOAT16, ReduceOp.BITWISE_XOR, this.target.address(), this.left.address(),
					this.right.address(), 1))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("bitwise-xor")
			.hasMessageContaining("bfloat16");
	}

	@ParameterizedTest
	@MethodSource("everyType")
	void finishChangesOnlyAnAverage(ReductionKernels kernels, DataType type) {
		long[] values = Operands.of(type).left();
		this.target.fill(UNTOUCHED);
		Operands.write(type, this.target, 64, values, 1027);
		for (ReduceOp op : EnumSet.complementOf(EnumSet.of(ReduceOp.AVERAGE))) {
			kernels.finish(type, op, this.target.address() + 64, 1027, 3);
			assertResult(type, this.target, 64, values, 1027);
		}
	}

	@ParameterizedTest
	@MethodSource("typesAndOperators")
	void vectorAndScalarResultsAreBitIdentical(DataType type, ReduceOp op) {
		int bytes = 1 << 16;
		MemorySegment a = random(bytes, 1);
		MemorySegment b = random(bytes, 2);
		MemorySegment scalar = this.arena.allocate(bytes);
		MemorySegment vector = this.arena.allocate(bytes);
		int count = bytes / type.bytes();
		ReductionKernels.scalar().reduce(type, op, scalar.address(), a.address(), b.address(), count);
		ReductionKernels.vector().reduce(type, op, vector.address(), a.address(), b.address(), count);
		assertThat(vector.mismatch(scalar)).isEqualTo(-1);
		ReductionKernels.scalar().finish(type, op, scalar.address(), count, 3);
		ReductionKernels.vector().finish(type, op, vector.address(), count, 3);
		assertThat(vector.mismatch(scalar)).isEqualTo(-1);
	}

	@Test
	void copiesMayOverlap() {
		MemorySegment source = random(4096, 3);
		for (long bytes : new long[] { 0, 1, 3, 8, 63, 64, 65, 4000 }) {
			byte[] expected = source.asSlice(5, bytes).toArray(ValueLayout.JAVA_BYTE);
			NativeMemory.copy(source.address() + 5, source.address() + 8, bytes);
			assertThat(source.asSlice(8, bytes).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
		}
	}

	@Test
	void aJvmWithTheVectorModuleUsesIt() {
		assertThat(ReductionKernels.get().name()).isEqualTo("vector");
	}

	private static long[] expected(Operands operands, ReduceOp op) {
		ExactArithmetic exact = ExactArithmetic.of(operands.type());
		long[] expected = new long[Operands.COUNT];
		Arrays.setAll(expected, (i) -> exact.combine(op, operands.left()[i], operands.right()[i]));
		return expected;
	}

	private static void assertResult(DataType type, MemorySegment memory, int offset, long[] expected, int count) {
		assertThat(Operands.read(type, memory, offset, count)).inHexadecimal()
			.isEqualTo(Arrays.copyOf(expected, count));
		assertThat(memory.get(ValueLayout.JAVA_BYTE, offset - 1)).isEqualTo(UNTOUCHED);
		assertThat(memory.get(ValueLayout.JAVA_BYTE, offset + (long) count * type.bytes())).isEqualTo(UNTOUCHED);
	}

	private MemorySegment memory() {
		return this.arena.allocate(128 + Operands.COUNT * Long.BYTES, 64);
	}

	private MemorySegment random(int bytes, long seed) {
		byte[] values = new byte[bytes];
		new Random(seed).nextBytes(values);
		return this.arena.allocate(bytes, 64).copyFrom(MemorySegment.ofArray(values));
	}

}
