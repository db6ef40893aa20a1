package io.tutti.launch;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(10)
class LaunchTimingsTest {

	@Test
	void ranksGetTheirWholeDrainTimeoutBeforeTheyAreKilled() {
		assertThat(from("120s").drain()).isEqualTo(Duration.ofSeconds(190));
		assertThat(from("120000").drain()).isEqualTo(Duration.ofSeconds(190));
		assertThat(from("120s").longestStop()).isGreaterThan(from("120s").drain());
		assertThat(from("10s")).isEqualTo(LaunchTimings.DEFAULTS);
		assertThat(LaunchTimings.from(ProcessProperties.of(Map.of(), Map.of()))).isEqualTo(LaunchTimings.DEFAULTS);
	}

	@Test
	void theDrainTimeoutOfTheCommandTakesPrecedence() {
		ProcessProperties properties = ProcessProperties.of(Map.of("tutti.timeout.drain", "60s"), Map.of());
		assertThat(LaunchTimings.from(properties.with(List.of("train", "--tutti.timeout.drain=120s"))).drain())
			.isEqualTo(Duration.ofSeconds(190));
		assertThat(LaunchTimings.from(properties.with(List.of("train", "--epochs=3"))).drain())
			.isEqualTo(Duration.ofSeconds(130));
	}

	@ParameterizedTest
	@ValueSource(strings = { "1d", "24h", "1440M", "86400S", "86400000ms", "86400000000us", "PT24H" })
	void aDurationIsWrittenAsForSpring(String drain) {
		assertThat(from(drain).drain()).isEqualTo(Duration.ofDays(1).plusSeconds(70));
	}

	@Test
	void theLongestDrainTimeoutIsNoError() {
		assertThat(from("PT9223372036854775807S").longestStop().toMillis()).isPositive();
	}

	@Test
	void aMalformedDrainTimeoutIsNamed() {
		assertThatIllegalArgumentException().isThrownBy(() -> from("soon"))
			.withMessageContaining("tutti.timeout.drain=soon");
	}

	private static LaunchTimings from(String drain) {
		return LaunchTimings.from(ProcessProperties.of(Map.of(), Map.of("TUTTI_TIMEOUT_DRAIN", drain)));
	}

}
