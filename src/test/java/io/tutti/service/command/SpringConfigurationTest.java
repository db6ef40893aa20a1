package io.tutti.service.command;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class SpringConfigurationTest {

	@TempDir
	private Path directory;

	@Test
	void variablesAndSystemPropertiesAreReadWithoutSpring() {
		assertThat(isUsed(Map.of("TUTTI_RANK", "1", "RANK", "1"), Map.of("tutti.world-size", "2", "user.name", "me")))
			.isFalse();
	}

	@Test
	void theFileOfTheProjectSetsNoPropertyOfTutti() {
		assertThat(SpringConfiguration.isUsed(Path.of(""), Map.of(), Map.of())).isFalse();
		// The script sets it for every command.
		assertThat(SpringConfiguration.isUsed(Path.of(""), Map.of(), Map.of("tutti.script", "/tutti"))).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "SPRING_PROFILES_ACTIVE, mpi", "SPRING_APPLICATION_JSON, '{}'", "spring.config.location, x",
			"TUTTI_RANK, '${POD_INDEX}'", "tutti.rank, 1" })
	void variablesThatOnlySpringUnderstandsNeedSpring(String variable, String value) {
		assertThat(isUsed(Map.of(variable, value), Map.of())).isTrue();
	}

	@Test
	void aSystemPropertyMayNameASpringProfile() {
		assertThat(isUsed(Map.of(), Map.of("spring.profiles.active", "mpi"))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "tutti.worldSize", "tutti.world_size", "TUTTI.WORLD-SIZE", "tutti.elastic.endpoints[0]" })
	void aSystemPropertyInAnotherSpellingNeedsSpring(String name) {
		assertThat(isUsed(Map.of(), Map.of(name, "4"))).isTrue();
	}

	@Test
	void propertiesOfOtherProgramsOnSpringDoNotNeedSpring() {
		assertThat(isUsed(Map.of(), Map.of("spring-javaformat.validate.skip", "true"))).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "application-mpi.yml", "application.properties", "application.yaml", "config" })
	void anotherConfigurationFileNeedsSpring(String name) throws Exception {
		Files.createFile(this.directory.resolve(name));
		assertThat(isUsed(Map.of(), Map.of())).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "tutti:\n  rank: 1", "tutti.rank: 1", "tutti:\n", "server.port: 1\n---\ntutti.rank: 1",
			"spring:\n  config:\n    import: file:other.yml", "spring.profiles.active: mpi",
			"spring: {profiles: {active: mpi}}", "a: [", "", "- a" })
	void aFileThatSetsAPropertyOrCannotBeReadNeedsSpring(String text) throws Exception {
		Files.writeString(this.directory.resolve("application.yml"), text);
		assertThat(isUsed(Map.of(), Map.of())).isTrue();
	}

	@Test
	void aFileWithPropertiesOfOtherProgramsDoesNotNeedSpring() throws Exception {
		Files.writeString(this.directory.resolve("application.yml"),
				"# tutti:\nserver:\n  port: 8080\nspring:\n  main:\n    banner-mode: off\n");
		assertThat(isUsed(Map.of(), Map.of())).isFalse();
	}

	private boolean isUsed(Map<String, String> environment, Map<String, String> systemProperties) {
		return SpringConfiguration.isUsed(this.directory, environment, systemProperties);
	}

}
