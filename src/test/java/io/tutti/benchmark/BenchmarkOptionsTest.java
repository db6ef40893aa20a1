package io.tutti.benchmark;

import java.time.Duration;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

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

	private static List<Long> sizes(long minBytes, long maxBytes, int factor) {
		return new BenchmarkOptions(List.of(Operation.ALL_REDUCE), minBytes, maxBytes, factor, 1, 1, DataType.FLOAT32,
				ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1))
			.sizes();
	}

}
