package io.tutti.service.backend;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class BackendProfileTest {

	@TempDir
	private Path folder;

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

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					npi     | profile npi selects no backend and has no configuration (application-npi.yml). Did you mean mpi?
					night   | profile night selects no backend and has no configuration (application-night.yml). The backends are tcp, mpi, nccl
					mpi,x-y | profile x-y selects no backend and has no configuration (application-x-y.yml). The backends are tcp, mpi, nccl
					""")
	void aProfileThatSelectsNothingIsDescribed(String profiles, String message) {
		assertThat(describeUnused(profiles)).containsExactly(message);
	}

	@Test
	void aProfileOfABackendAFileAPartOfAFileOrAGroupIsNotDescribed() throws Exception {
		Files.writeString(this.folder.resolve("application.yml"), """
				spring.profiles.group.team: mpi
				---
				spring.config.activate.on-profile: "day & !(noon)"
				tutti.timeout.collective: 9s
				""");
		Files.writeString(this.folder.resolve("application-night.yml"), "tutti.timeout.collective: 1m");
		Files.writeString(this.folder.resolve("application-dusk.properties"), "tutti.timeout.collective=1m");
		assertThat(describeUnused("team,day,night,dusk")).isEmpty();
		assertThat(describeUnused("team,day,nigth,dusk")).singleElement().asString().startsWith("profile nigth ");
		assertThat(describeUnused("tea,da")).hasSize(2);
	}

	private List<String> describeUnused(String profiles) {
		ConfigurableEnvironment read = new StandardEnvironment();
		read.getPropertySources()
			.addFirst(new MapPropertySource("given", Map.of("spring.profiles.active", profiles,
					"spring.config.additional-location", this.folder.toUri().toString())));
		ConfigDataEnvironmentPostProcessor.applyTo(read);
		return BackendProfile.describeUnused(read);
	}

	private void process() {
		new BackendProfile().postProcessEnvironment(this.environment, new SpringApplication());
	}

}
