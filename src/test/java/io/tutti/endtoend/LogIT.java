package io.tutti.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class LogIT {

	@TempDir
	Path directory;

	@ParameterizedTest
	@ValueSource(strings = { "env", "launch -n 1 env" })
	void outputWithoutRoomOnTheDiskIsAnError(String command) throws Exception {
		List<String> full = List.of("sh", "-c", "exec \"$@\" > /dev/full", "sh");
		try (TuttiProcess env = TuttiProcess.startWithin(full, this.directory, command.split(" "))) {
			assertThat(env.exitCode(Duration.ofSeconds(60))).as(env.output()).isEqualTo(ExitCode.INTERNAL);
			assertThat(env.output()).containsPattern("could not be written|is incomplete: No space left on device");
		}
	}

	@Test
	void aReaderMayCloseThePipe() throws Exception {
		List<String> closed = List.of("sh", "-c", "{ sleep 1; \"$@\"; echo ended with $? >&2; } | true", "sh");
		try (TuttiProcess env = TuttiProcess.startWithin(closed, this.directory, "env")) {
			assertThat(env.awaitLine("ended with (\\d+)", Duration.ofSeconds(60)).group(1)).isEqualTo("0");
		}
	}

	@Test
	void everyStructuredLineSaysWhoSpeaksAndWhereItStands() throws Exception {
		try (TuttiProcess serve = TuttiProcess.start(this.directory, "serve", "--http-port", "0",
				"--logging.structured.format.console=ecs")) {
			serve.awaitLine("joined the group", Duration.ofSeconds(60));
			List<JsonNode> lines = serve.output()
				.lines()
				.filter((line) -> line.startsWith("{"))
				.map((line) -> JsonMapper.shared().readTree(line))
				.toList();
			assertThat(lines).hasSizeGreaterThan(1).allSatisfy((line) -> {
				assertThat(line.at("/tutti/rank").asInt(-1)).isZero();
				assertThat(line.at("/tutti/worldSize").asInt(-1)).isOne();
				assertThat(line.at("/ecs/version").isMissingNode()).isFalse();
			});
			JsonNode joined = lines.getLast();
			assertThat(joined.path("message").asString()).contains("joined the group");
			assertThat(joined.at("/process/thread/name").asString()).isEqualTo("tutti-r0-rendezvous");
			assertThat(joined.at("/tutti/generation").asInt(-1)).isZero();
			assertThat(joined.at("/tutti/group").asString()).isEqualTo("world");
			assertThat(joined.at("/tutti/groupRank").asInt(-1)).isZero();
			assertThat(joined.at("/tutti/groupSize").asInt(-1)).isOne();
			assertThat(joined.at("/tutti/sequence").asInt(-9)).isEqualTo(-1);
		}
	}

}
