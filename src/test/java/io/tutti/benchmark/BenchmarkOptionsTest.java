package io.tutti.benchmark;

import java.time.Duration;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(10)
class BenchmarkOptionsTest {

	@Test
	void sizesGrowByTheFactorUpToTheLargest() {
		assertThat(sizes(4, 1000, 4)).containsExactly(4L, 16L, 64L, 256L);
		assertThat(sizes(8, 8, 2)).containsExactly(8L);
		assertThat(sizes(4, 64, 2)).endsWith(64L);
	}

	@Test
	void aFactorWhoseProductOverflowsEndsTheSizes() {
		assertThat(sizes(8L << 30, 8L << 30, 1 << 30)).containsExactly(8L << 30);
		assertThat(sizes(4L << 30, 8L << 30, Integer.MAX_VALUE)).containsExactly(4L << 30);
	}

	@Test
	void samplesWhoseTimesDoNotFitIntoMemoryAreRefused() {
		assertThat(options(1_000_000, 1_000_000).iterations()).isEqualTo(1_000_000);
		assertThatIllegalArgumentException().isThrownBy(() -> options(Integer.MAX_VALUE, 1))
			.withMessage("iterations and warm-up must be in 0..1000000, got 2147483647 and 1");
		assertThatIllegalArgumentException().isThrownBy(() -> options(1, 1_000_001)).withMessageContaining("1000001");
	}

	private static BenchmarkOptions options(int iterations, int warmup) {
		return new BenchmarkOptions(List.of(Operation.ALL_REDUCE), 4, 4, 2, iterations, warmup, DataType.FLOAT32,
				ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1));
	}

	private static List<Long> sizes(long minBytes, long maxBytes, int factor) {
		return new BenchmarkOptions(List.of(Operation.ALL_REDUCE), minBytes, maxBytes, factor, 1, 1, DataType.FLOAT32,
				ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1))
			.sizes();
	}

}
