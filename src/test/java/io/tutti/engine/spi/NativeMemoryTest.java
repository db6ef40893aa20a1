package io.tutti.engine.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class NativeMemoryTest {

	static IntStream sizes() {
		return IntStream.rangeClosed(0, 140);
	}

	/** Disjoint ranges, and ranges that overlap by any number of bytes on either side. */
	@ParameterizedTest
	@MethodSource("sizes")
	void copiesTheBytesThatWereThereBefore(int bytes) {
		for (int distance = -150; distance <= 150; distance++) {
			copies(bytes, distance);
		}
	}

	/** Sizes around that from which on the C library copies. */
	@ParameterizedTest
	@ValueSource(ints = { 8191, 8192, 8193, 100_000 })
	void copiesManyBytes(int bytes) {
		for (int distance : new int[] { -bytes - 1, -bytes, -4096, -65, -1, 0, 1, 65, 4096, bytes, bytes + 1 }) {
			copies(bytes, distance);
		}
	}

	/** Several calls of the C library, and several copies of the JVM. */
	@ParameterizedTest
	@CsvSource({ "-1048576, false", "-8, false", "8, false", "1048576, false", "-8, true", "1048576, true" })
	void copiesOverlappingBytesInSeveralCalls(int distance, boolean own) {
		long bytes = (130 << 20) + 24;
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment memory = arena.allocate(bytes + Math.abs(distance), Long.BYTES);
			for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
				memory.set(ValueLayout.JAVA_LONG, at, at);
			}
			long start = Math.max(0, -distance);
			long source = memory.address() + start;
			if (own) {
				NativeMemory.copyOwn(source, source + distance, bytes);
			}
			else {
				NativeMemory.copy(source, source + distance, bytes);
			}
			for (long at = 0; at < bytes; at += Long.BYTES) {
				long copied = memory.get(ValueLayout.JAVA_LONG, start + distance + at);
				if (copied != start + at) {
					assertThat(copied).as("at %s", at).isEqualTo(start + at);
				}
			}
		}
	}

	private static void copies(int bytes, int distance) {
		byte[] expected = new byte[bytes + 2 * Math.abs(distance)];
		for (int i = 0; i < expected.length; i++) {
			expected[i] = (byte) (i * 7 + i / 251 + distance);
		}
		MemorySegment memory = Arena.ofAuto().allocate(Math.max(1, expected.length), 64);
		MemorySegment.copy(expected, 0, memory, ValueLayout.JAVA_BYTE, 0, expected.length);
		int start = Math.abs(distance);
		System.arraycopy(expected, start, expected, start + distance, bytes);
		NativeMemory.copy(memory.address() + start, memory.address() + start + distance, bytes);
		assertThat(memory.asSlice(0, expected.length).toArray(ValueLayout.JAVA_BYTE))
			.as("%s bytes by %s", bytes, distance)
			.isEqualTo(expected);
	}

}
