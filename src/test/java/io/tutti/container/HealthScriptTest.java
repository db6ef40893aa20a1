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
 * The image's health check. A shell script replaces curl.
 */
@Timeout(60)
class HealthScriptTest {

	private static final Path SCRIPT = Path.of("src/main/docker/health.sh").toAbsolutePath();

	@TempDir
	private Path folder;

	@Test
	void everyRankMustBeHealthyUnlessFewerAreAskedFor() throws Exception {
		assertThat(check(List.of(8080, 8081), "liveness", "2")).isZero();
		assertThat(check(List.of(8081), "liveness", "2")).isOne();
		assertThat(check(List.of(8081), "liveness", "2", "1")).isZero();
		assertThat(check(List.of(), "liveness", "2", "1")).isOne();
		assertThat(check(List.of(8080))).isZero();
		assertThat(check(List.of(8081))).isOne();
	}

	private int check(List<Integer> healthy, String... arguments) throws IOException, InterruptedException {
		Path curl = this.folder.resolve("curl");
		Files.writeString(curl,
				"#!/bin/sh\ncase $* in\n" + String.join("",
						healthy.stream().map((port) -> "*http://127.0.0.1:" + port + "/*) exit 0 ;;\n").toList())
						+ "esac\nexit 7\n");
		assertThat(curl.toFile().setExecutable(true)).isTrue();
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
