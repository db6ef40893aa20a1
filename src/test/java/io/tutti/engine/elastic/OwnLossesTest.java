package io.tutti.engine.elastic;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OwnLossesTest {

	private static final Duration SHORT = Duration.ofSeconds(20);

	private final OwnLosses losses = new OwnLosses(Duration.ofSeconds(10));

	@Test
	void theThirdLossAtTheSameStepIsOneTooMany() {
		assertThat(this.losses.add(7, SHORT)).isFalse();
		assertThat(this.losses.add(7, SHORT)).isFalse();
		assertThat(this.losses.add(7, SHORT)).isTrue();
	}

	@Test
	void aStepBetweenBeginsTheCountAgain() {
		for (int step = 1; step < 10; step++) {
			assertThat(this.losses.add(step, SHORT)).isFalse();
			assertThat(this.losses.add(step, SHORT)).isFalse();
		}
	}

	/** The group of a server makes no steps. */
	@Test
	void aGenerationThatLastsBeginsTheCountAgain() {
		for (int pause = 0; pause < 10; pause++) {
			assertThat(this.losses.add(0, Duration.ofSeconds(100))).isFalse();
			assertThat(this.losses.add(0, SHORT)).isFalse();
		}
	}

}
