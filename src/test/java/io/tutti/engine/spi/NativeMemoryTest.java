package io.tutti.engine.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class NativeMemoryTest {

	private static final int BYTES = 512;

	private static final int START = 200;

	static IntStream sizes() {
		return IntStream.rangeClosed(0, 140);
	}

	/** Disjoint ranges, and ranges that overlap by any number of bytes on either side. */
	@ParameterizedTest
	@MethodSource("sizes")
	void copiesTheBytesThatWereThereBefore(int bytes) {
		MemorySegment memory = Arena.ofAuto().allocate(BYTES, 64);
		for (int distance = -150; distance <= 150; distance++) {
			byte[] expected = new byte[BYTES];
			for (int i = 0; i < BYTES; i++) {
				expected[i] = (byte) (i * 7 + distance);
				memory.set(ValueLayout.JAVA_BYTE, i, expected[i]);
			}
			byte[] source = Arrays.copyOfRange(expected, START, START + bytes);
			System.arraycopy(source, 0, expected, START + distance, bytes);
			NativeMemory.copy(memory.address() + START, memory.address() + START + distance, bytes);
			assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).as("%s bytes by %s", bytes, distance).isEqualTo(expected);
		}
	}

}
