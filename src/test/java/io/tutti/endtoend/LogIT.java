package io.tutti.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class LogIT {

	@TempDir
	Path directory;

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
			assertThat(joined.at("/tutti/sequence").asInt(-9)).isEqualTo(-1);
		}
	}

}
