package io.tutti.service.backend;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringApplication;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class BackendProfileTest {

	private final MockEnvironment environment = new MockEnvironment();

	@Test
	void profilesOfTheApplicationAreIgnored() {
		this.environment.setActiveProfiles("production", "mpi2");
		process();
		assertThat(this.environment.getActiveProfiles()).containsExactly("production", "mpi2");
	}

	@Test
	void thePropertyActivatesTheProfileOfItsName() {
		this.environment.setActiveProfiles("production");
		this.environment.setProperty("tutti.backend", "mpi");
		process();
		assertThat(this.environment.getActiveProfiles()).containsExactly("production", "mpi");
	}

	/** As {@code launch --profile} and the chart set both. */
	@Test
	void profileAndPropertyMayNameTheSameBackend() {
		this.environment.setActiveProfiles("mpi", "production");
		this.environment.setProperty("tutti.backend", "mpi");
		process();
		assertThat(this.environment.getActiveProfiles()).containsExactly("mpi", "production");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			foo  | tutti.backend=foo is not a backend. The backends are tcp, mpi, nccl
			ncll | tutti.backend=ncll is not a backend. Did you mean nccl?
			""")
	void anUnknownBackendIsRefusedWithTheNearestName(String name, String message) {
		this.environment.setProperty("tutti.backend", name);
		assertThatExceptionOfType(BadConfigurationException.class).isThrownBy(this::process).withMessage(message);
		this.environment.setProperty("tutti.enabled", "false");
		process();
		assertThat(this.environment.getActiveProfiles()).isEmpty();
	}

	@Test
	void twoBackendsAtOnceAreRejectedByName() {
		this.environment.setActiveProfiles("x", "mpi");
		this.environment.setProperty("tutti.backend", "tcp");
		assertThatExceptionOfType(BackendUnavailableException.class).isThrownBy(this::process)
			.withMessageContaining("mpi and tcp")
			.withMessageContaining("Keep one of the profiles mpi, tcp");
	}

	private void process() {
		new BackendProfile().postProcessEnvironment(this.environment, new SpringApplication());
	}

}
