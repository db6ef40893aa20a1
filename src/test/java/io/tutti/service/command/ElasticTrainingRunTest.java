package io.tutti.service.command;

import java.util.List;
import java.util.Map;

import io.tutti.service.config.ConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ElasticTrainingRunTest {

	@ParameterizedTest
	@ValueSource(strings = { "--server.port=1", "--tutti.http.port=8080", "--tutti.train.device=cuda" })
	void whatOnlyTheApplicationCanUseIsRefused(String argument) {
		String name = argument.substring(2, argument.indexOf('='));
		try {
			assertThatExceptionOfType(ConfigurationException.class)
				.isThrownBy(() -> ElasticTrainingRun.configure(List.of(argument), Map.of()))
				.withMessageContaining(name)
				.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
		}
		finally {
			System.clearProperty(name);
		}
	}

	@Test
	void aSpringProfileIsRefused() {
		assertThatExceptionOfType(ConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.configure(List.of(), Map.of("SPRING_PROFILES_ACTIVE", "nccl")))
			.withMessageContaining("profiles");
	}

}
