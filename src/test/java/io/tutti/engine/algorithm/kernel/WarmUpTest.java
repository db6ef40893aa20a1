package io.tutti.engine.algorithm.kernel;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class WarmUpTest {

	private static final Duration LIMIT = Duration.ofSeconds(5);

	private final AtomicLong nanos = new AtomicLong();

	@Test
	void warmUpEndsAtItsLimitIfTheKernelStaysSlow() {
		Duration reading = Duration.ofMillis(100);
		warmUp(reading);
		assertThat(this.nanos.get()).isBetween(LIMIT.toNanos(), LIMIT.plus(reading.multipliedBy(3)).toNanos());
	}

	@Test
	void warmUpEndsLongBeforeItsLimitOnceTheKernelIsFast() {
		warmUp(Duration.ofNanos(100));
		assertThat(this.nanos.get()).isLessThan(LIMIT.toNanos() / 1000);
	}

	@Test
	void warmUpMakesEnoughCallsToTriggerTopTierCompilation() {
		warmUp(Duration.ofNanos(1));
		long readingsPerRound = 3;
		assertThat(this.nanos.get()).isGreaterThan(readingsPerRound * 700);
	}

	private void warmUp(Duration reading) {
		new WarmUp(ReductionKernels.get(), () -> this.nanos.addAndGet(reading.toNanos())).run(DataType.FLOAT32,
				ReduceOp.SUM, LIMIT);
	}

}
