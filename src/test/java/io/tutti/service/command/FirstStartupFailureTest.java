package io.tutti.service.command;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.tutti.ExitCode;
import io.tutti.TestJvm;
import io.tutti.service.TuttiApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications that must not start, each in a process of its own: what an earlier one has
 * set up may hide Spring's report.
 */
@Timeout(60)
class FirstStartupFailureTest {

	@TempDir
	private Path folder;

	/** These fail before the levels of the log are set. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			--tutti.backend=foo              | tutti.backend=foo is not a backend
			--spring.profiles.active=tcp,mpi | backend tcp and mpi is not available: only one backend
			""")
	void aMistakeThatIsTheFirstOfAProcessEndsWithOneLineOnly(String argument, String message) throws Exception {
		assertOneLine(message, argument);
	}

	@Test
	void aFileWithATabEndsWithOneLineOnly() throws Exception {
		Path file = Files.writeString(this.folder.resolve("application.yml"), "tutti:\n\tbackend: tcp\n");
		assertOneLine("application.yml", "--spring.config.location=" + file);
	}

	/**
	 * Before HTTP is served and the group is joined, which would be lines of their own.
	 */
	@Test
	void anUnknownTaskEndsWithOneLineOnly() throws Exception {
		assertOneLine("--task com.acme.Nope is neither a class nor a bean of type TrainingTask. Give the full name",
				"--task=com.acme.Nope");
	}

	private static void assertOneLine(String message, String argument) throws Exception {
		Process process = new ProcessBuilder(TestJvm.command(TuttiApplication.class, "train", argument))
			.redirectErrorStream(true)
			.start();
		try (InputStream output = process.getInputStream()) {
			List<String> lines = new String(output.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
			assertThat(lines).singleElement().asString().startsWith("tutti: ").contains(message);
		}
		assertThat(process.waitFor()).isEqualTo(ExitCode.BAD_CONFIGURATION);
	}

}
