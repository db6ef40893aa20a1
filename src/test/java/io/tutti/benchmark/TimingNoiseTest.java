package io.tutti.benchmark;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class TimingNoiseTest {

	private final TimingNoise disturbance = new TimingNoise();

	@Test
	void oneSlowLineInFourCausesNoWarning() {
		take(10, 30);
		take(10, 11);
		take(10, 15);
		take(10, 20);
		assertThat(this.disturbance.note()).isNull();
	}

	@Test
	void aBenchmarkOnSharedCoresCausesAWarning() {
		take(10, 30);
		take(10, 21);
		take(10, 11);
		assertThat(this.disturbance.note()).startsWith("in 2 of 3 lines the median is more than twice the shortest");
	}

	private void take(double minMicros, double p50Micros) {
		this.disturbance.take(new Measurement("tutti", "shm", Operation.ALL_REDUCE, 2, 4, 1, p50Micros, minMicros,
				10 * p50Micros, 100, 0));
	}

}
