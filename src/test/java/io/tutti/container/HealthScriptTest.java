package io.tutti.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The image's health check. Shell scripts replace curl and Java.
 */
@Timeout(60)
class HealthScriptTest {

	private static final Path SCRIPT = Path.of("src/main/docker/health.sh").toAbsolutePath();

	@TempDir
	private Path folder;

	@Test
	void oneRankIsAskedWithoutAJvm() throws Exception {
		replace("java", "exit 2");
		replace("curl", "case $* in *-m*http://127.0.0.1:8080/actuator/health/liveness) exit 0 ;; esac; exit 7");
		assertThat(check()).isZero();
		assertThat(check("readiness")).isOne();
	}

	@Test
	void oneJvmAsksSeveralRanks() throws Exception {
		replace("curl", "exit 2");
		replace("java", "case $* in *HealthProbe' liveness 2 1') exit 0 ;; esac; exit 1");
		assertThat(check("liveness", "2", "1")).isZero();
		assertThat(check("liveness", "2")).isOne();
	}

	private void replace(String program, String script) throws IOException {
		Path file = Files.writeString(this.folder.resolve(program), "#!/bin/sh\n" + script + "\n");
		assertThat(file.toFile().setExecutable(true)).isTrue();
	}

	private int check(String... arguments) throws IOException, InterruptedException {
		ProcessBuilder builder = new ProcessBuilder(
				Stream.concat(Stream.of("sh", SCRIPT.toString()), Arrays.stream(arguments)).toList())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD);
		builder.environment().merge("PATH", this.folder + ":", (path, first) -> first + path);
		builder.environment()
			.keySet()
			.removeAll(List.of("MANAGEMENT_SERVER_PORT", "TUTTI_HTTP_PORT", "TUTTI_HTTP_ADDRESS"));
		Process process = builder.start();
		assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
		return process.exitValue();
	}

}
