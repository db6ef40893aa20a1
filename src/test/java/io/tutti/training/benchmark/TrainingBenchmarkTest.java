package io.tutti.training.benchmark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.SharesLibtorch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(120)
@SharesLibtorch
class TrainingBenchmarkTest {

	@Test
	void everyRankMeasuresTheVariantsInTheSameOrderWithTheSameTimes() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30)))) {
			List<List<StepMeasurement>> byRank = RankThreads.run(2, Duration.ofSeconds(100), (rank) -> {
				List<StepMeasurement> lines = new ArrayList<>();
				new TrainingBenchmark(world.group(rank), 2).run(LayerStack.ofAbout(1000), lines::add);
				return lines;
			});
			assertThat(byRank.get(1)).isEqualTo(byRank.get(0));
			assertThat(byRank.get(0)).extracting(StepMeasurement::variant)
				.containsExactly("none", "without-overlap", "overlap", "automatic");
			assertThat(byRank.get(0)).allSatisfy((line) -> {
				assertThat(line.minMillis()).isPositive().isLessThanOrEqualTo(line.p50Millis());
				assertThat(line.samplesPerSecond()).isPositive();
				assertThat(line.exposedShare()).isBetween(0.0, 1.0);
				assertThat(line.allReduceMillis()).isPositive();
				assertThat(line.parameters()).isEqualTo(720);
			});
			assertThat(byRank.get(0).getFirst().exposedMillis()).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(doubles = { 1e3, 5e4, 1e6, 1e7, 1e8, 1e9 })
	void aModelHasAboutTheRequestedNumberOfParameters(double parameters) {
		assertThat((double) LayerStack.ofAbout(parameters).parameters()).isBetween(0.6 * parameters, 1.6 * parameters);
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, 999, 2e9, Double.NaN })
	void aModelOutOfRangeIsRejected(double parameters) {
		assertThatIllegalArgumentException().isThrownBy(() -> LayerStack.ofAbout(parameters))
			.withMessageContaining("0.001 to 1000 million");
	}

	@Test
	void theLinesOfAnotherSystemAreParsedAndOtherOutputIsIgnored() {
		assertThat(StepMeasurement.parse("c10d-gloo", 2, "overlap\t1027200\t32\t12.5\t10\t8.5\t7\t60"))
			.hasValue(new StepMeasurement("c10d-gloo", "overlap", 2, 1_027_200, 32, 12.5, 10, 8.5, 7, 0, 60));
		assertThat(StepMeasurement.parse("c10d-gloo", 2, "[W socket.cpp:601] a warning")).isEmpty();
		assertThat(StepMeasurement.parse("c10d-gloo", 2, "overlap\tx\t32\t12.5\t10\t8.5\t7\t60")).isEmpty();
	}

}
