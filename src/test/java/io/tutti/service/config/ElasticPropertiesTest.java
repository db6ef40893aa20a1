package io.tutti.service.config;

import java.time.Duration;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.ExitCode;
import io.tutti.engine.Timeouts;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ElasticPropertiesTest {

	private static final List<String> TWO = List.of("a:1", "[fd00::1]:2");

	@Test
	void withoutAMinimumTheJobIsNotElastic() {
		assertThat(properties(null, null, null).settings(2, Timeouts.DEFAULTS)).isNull();
	}

	@Test
	void endpointsAreReadAndLimited() {
		assertThat(properties(1, null, TWO).settings(2, Timeouts.DEFAULTS).endpoints().getLast().host())
			.isEqualTo("fd00::1");
		assertThat(properties(1, 1, TWO).settings(1, Timeouts.DEFAULTS).maxRanks()).isOne();
	}

	@Test
	void aValueOutOfRangeIsRefusedWithItsName() {
		refused(properties(3, null, TWO), "tutti.elastic.min-ranks must be in 1..2");
		refused(properties(1, 3, TWO), "tutti.elastic.max-ranks must be in 2");
		refused(properties(1, null, null), "tutti.elastic.endpoints must name the endpoint of each rank");
		refused(properties(1, null, List.of("a:1", "a:1")), "tutti.elastic.endpoints must differ");
		refused(properties(1, null, List.of("a", "b:2")), "an endpoint must be host:port, got a");
		refused(properties(1, null, List.of("a:70000", "b:2")), "1..65535");
	}

	@Test
	void aWaitForOthersMustEndBeforeTheDeadlineOfTheFormation() {
		refused(new ElasticProperties(1, null, Duration.ofMinutes(5), 0, QuorumRule.LIVE, TWO),
				"tutti.elastic.settle (PT5M) must be less than tutti.timeout.rendezvous (PT5M)");
		Timeouts shorter = new Timeouts(Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(30),
				Duration.ofSeconds(5), Duration.ofSeconds(5));
		assertThatThrownBy(() -> properties(1, null, TWO).settings(2, shorter))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("tutti.timeout.heartbeat (PT30S) must be less than tutti.timeout.rendezvous (PT30S)");
	}

	@Test
	void aCommandThatCannotContinueRefusesTheMinimum() {
		properties(null, null, null).requireUnset("serve");
		assertThatThrownBy(() -> properties(2, null, TWO).requireUnset("serve"))
			.isInstanceOfSatisfying(BadConfigurationException.class,
					(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
			.hasMessageContaining("serve cannot continue without a lost rank");
	}

	@Test
	void aPropertyThatWouldHaveNoEffectWithoutAMinimumIsRefused() {
		refused(properties(null, 2, null), "tutti.elastic.max-ranks would have no effect");
		refused(properties(null, null, TWO), "tutti.elastic.endpoints would have no effect");
		refused(new ElasticProperties(null, null, Duration.ofSeconds(1), 3, QuorumRule.STRICT, null),
				"tutti.elastic.settle, tutti.elastic.max-failures, tutti.elastic.quorum would have no effect");
		assertThatThrownBy(() -> properties(null, null, TWO).requireUnset("bench"))
			.hasMessageContaining("tutti.elastic.endpoints would have no effect");
	}

	private static void refused(ElasticProperties properties, String message) {
		assertThatThrownBy(() -> properties.settings(2, Timeouts.DEFAULTS))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining(message);
	}

	private static ElasticProperties properties(@Nullable Integer minRanks, @Nullable Integer maxRanks,
			@Nullable List<String> endpoints) {
		return new ElasticProperties(minRanks, maxRanks, Duration.ZERO, 0, QuorumRule.LIVE, endpoints);
	}

}
