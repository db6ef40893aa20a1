package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class ReductionKernelsTest {

	private static final int[] COUNTS = { 0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 1000, 5003 };

	private final ReductionKernels kernels = ReductionKernels.get();

	private final StagedLoops staged = new StagedLoops();

	@ParameterizedTest
	@EnumSource(DataType.class)
	void everyElementIsCombinedAndNoOtherTouchedWhateverTheBitsAndTheAlignment(DataType type) {
		Random random = new Random(type.ordinal());
		for (ReduceOp op : ReduceOp.values()) {
			for (int count : COUNTS) {
				for (int offset : new int[] { 0, 1, 4 }) {
					check(type, op, count, offset, random);
				}
			}
		}
	}

	private void check(DataType type, ReduceOp op, int count, int offset, Random random) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment left = randomBits(arena, type, count, offset, random);
			MemorySegment right = randomBits(arena, type, count, offset, random);
			MemorySegment target = arena.allocate((long) count * type.bytes() + 72, 64).fill((byte) 0x5a);
			MemorySegment other = arena.allocate((long) count * type.bytes() + 72, 64).fill((byte) 0x5a);
			MemorySegment second = arena.allocate((long) count * type.bytes() + 72, 64).fill((byte) 0x5a);
			this.kernels.reduceToBoth(type, op, target.address() + offset, second.address() + offset,
					left.address() + offset, right.address() + offset, count);
			this.staged.reduce(type, op, other.address() + offset, left.address() + offset, right.address() + offset,
					count);
			for (int i = 0; i < count; i++) {
				Object expected = Reference.combine(type, op, Reference.get(left, type, offset, i),
						Reference.get(right, type, offset, i));
				assertThat(Reference.get(target, type, offset, i)).as("%s of %s [%d] of %d", op, type, i, count)
					.isEqualTo(expected);
				assertThat(Reference.get(other, type, offset, i)).isEqualTo(expected);
			}
			assertThat(second.mismatch(target)).isEqualTo(-1);
			assertThat(target.get(ValueLayout.JAVA_BYTE, offset + (long) count * type.bytes())).isEqualTo((byte) 0x5a);
		}
	}

	private static MemorySegment randomBits(Arena arena, DataType type, int count, int offset, Random random) {
		MemorySegment memory = arena.allocate((long) count * type.bytes() + 72, 64);
		byte[] bits = new byte[count * type.bytes()];
		random.nextBytes(bits);
		MemorySegment.copy(bits, 0, memory, ValueLayout.JAVA_BYTE, offset, bits.length);
		return memory;
	}

	@Test
	void notANumberAndSignedZeroesAreTreatedAsJavaTreatsThem() {
		float[] left = { Float.NaN, 1, -0f, 0f, Float.POSITIVE_INFINITY, -0f, 3, 4, 5, Float.NaN };
		float[] right = { 1, Float.NaN, 0f, -0f, Float.NEGATIVE_INFINITY, -0f, 4, 3, 5, Float.NaN };
		for (ReduceOp op : ReduceOp.values()) {
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment a = arena.allocateFrom(ValueLayout.JAVA_FLOAT, left);
				MemorySegment b = arena.allocateFrom(ValueLayout.JAVA_FLOAT, right);
				this.kernels.reduce(DataType.FLOAT32, op, b.address(), a.address(), b.address(), left.length);
				for (int i = 0; i < left.length; i++) {
					assertThat(b.getAtIndex(ValueLayout.JAVA_FLOAT, i)).as("%s %d", op, i)
						.isEqualTo(Reference.combine(DataType.FLOAT32, op, left[i], right[i]));
				}
			}
		}
	}

	@Test
	void anAverageIsDividedOnceAndIntegersRoundTowardsZero() {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment ints = arena.allocateFrom(ValueLayout.JAVA_INT, 7, -7, 0);
			this.kernels.finish(DataType.INT32, ReduceOp.AVERAGE, ints.address(), 3, 2);
			assertThat(ints.toArray(ValueLayout.JAVA_INT)).containsExactly(3, -3, 0);
			MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 250, (byte) 9);
			this.kernels.finish(DataType.UINT8, ReduceOp.AVERAGE, bytes.address(), 2, 2);
			assertThat(bytes.toArray(ValueLayout.JAVA_BYTE)).containsExactly((byte) 125, (byte) 4);
			MemorySegment floats = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1f, 2f);
			this.kernels.finish(DataType.FLOAT32, ReduceOp.SUM, floats.address(), 2, 3);
			assertThat(floats.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1f, 2f);
			this.kernels.finish(DataType.FLOAT32, ReduceOp.AVERAGE, floats.address(), 2, 3);
			assertThat(floats.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1f / 3, 2f / 3);
		}
	}

	@Test
	void theVectorModuleIsUsedWhereItIsThere() {
		assertThat(ReductionKernels.kind())
			.isEqualTo(ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent() ? "vector" : "scalar");
	}

}
