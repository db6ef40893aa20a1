package io.tutti.engine.dispatch;

import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class CallDurationsTest {

	@Test
	void theBoundsAreOneAndThreePerDecade() {
		assertThat(CallDurations.boundsNanos()).startsWith(1_000, 3_000, 10_000, 30_000)
			.endsWith(10_000_000_000L, 30_000_000_000L, 100_000_000_000L)
			.hasSize(17)
			.isSorted();
	}

	@Test
	void aDurationIsCountedUpToAndIncludingItsBound() {
		assertThat(LongStream.of(0, 1_000, 1_001, 3_000, 3_001, 100_000_000_000L, Long.MAX_VALUE)
			.mapToInt(CallDurations::bucket)).containsExactly(0, 0, 1, 1, 2, 16, 17);
	}

	@Test
	void sumsAddEachCount() {
		long[] words = new long[40];
		words[5] = 2;
		words[5 + 17] = 3;
		CallDurations once = new CallDurations(words, 5, 70);
		CallDurations twice = once.plus(once);
		assertThat(once.count()).isEqualTo(5);
		assertThat(twice.counts()).startsWith(4L).endsWith(6L);
		assertThat(twice.nanos()).isEqualTo(140);
		assertThat(once.plus(CallDurations.NONE)).isEqualTo(once);
	}

}
