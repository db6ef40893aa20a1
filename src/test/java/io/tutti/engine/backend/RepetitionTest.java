package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The other tests compare with it, so it is compared element by element. */
@Timeout(30)
class RepetitionTest {

	private static final int COUNT = 250;

	private static final int PERIOD = 37;

	@ParameterizedTest
	@EnumSource
	void aBufferHoldsTheElementsFromAnyIndexAndEachDifferenceIsFound(DataType type) {
		Repetition repetition = new Repetition(type, PERIOD, (index) -> index);
		for (int first : new int[] { 0, 1, PERIOD - 1, PERIOD, 1000 }) {
			MemorySegment buffer = MemorySegment.ofArray(new byte[COUNT * type.bytes()]);
			repetition.fill(buffer, first);
			assertThat(repetition.mismatch(buffer, first)).isEqualTo(-1);
			for (int i = 0; i < COUNT; i++) {
				long value = (first + i) % PERIOD;
				assertThat(Elements.get(buffer, type, i)).isEqualTo(value).isEqualTo(repetition.get(first + i));
				Elements.put(buffer, type, i, value + 1);
				assertThat(repetition.mismatch(buffer, first)).isEqualTo(i);
				Elements.put(buffer, type, i, value);
			}
		}
	}

}
