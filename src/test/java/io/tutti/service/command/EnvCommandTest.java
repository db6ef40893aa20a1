package io.tutti.service.command;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
@Isolated
class EnvCommandTest {

	private final PrintStream systemOut = System.out;

	private final PrintStream systemErr = System.err;

	private final List<String> writes = new ArrayList<>();

	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	@BeforeEach
	void capture() {
		System.setOut(new PrintStream(new OutputStream() {
			@Override
			public void write(int b) {
				EnvCommandTest.this.writes.add(Character.toString(b));
			}

			@Override
			public void write(byte[] bytes, int offset, int length) {
				EnvCommandTest.this.writes.add(new String(bytes, offset, length, StandardCharsets.UTF_8));
			}
		}));
		System.setErr(new PrintStream(this.err, true, StandardCharsets.UTF_8));
	}

	@AfterEach
	void restore() {
		System.setOut(this.systemOut);
		System.setErr(this.systemErr);
	}

	@Test
	void jsonIsOneLineInOneWrite() {
		assertThat(env(Map.of("RANK", "1", "WORLD_SIZE", "2", "SLURM_NTASKS", "9", "PET_NODE_RANK", "0"), "--json"))
			.isZero();
		assertThat(this.writes).singleElement().asString().endsWith("}\n").containsOnlyOnce("\n");
		JsonNode json = JsonMapper.shared().readTree(this.writes.getFirst());
		assertThat(json.propertyNames()).containsExactly("rank", "worldSize", "localRank", "localWorldSize",
				"masterAddress", "masterPort", "source", "used", "ignored", "conflicts");
		assertThat(json.get("rank").asInt()).isEqualTo(1);
		assertThat(json.get("worldSize").asInt()).isEqualTo(2);
		assertThat(json.get("masterAddress").asString()).isEqualTo("127.0.0.1");
		assertThat(json.get("masterPort").asInt()).isEqualTo(29500);
		assertThat(json.get("source").asString()).isEqualTo("torchrun");
		assertThat(json.get("used").get("RANK").asString()).isEqualTo("1");
		assertThat(json.get("ignored")).hasSize(1);
		assertThat(json.get("conflicts")).hasSize(1);
	}

	@Test
	void jsonEqualsThatOfTheRestInterface() {
		RankDescription report = new RankDescription(1, 2, 1, 2, "::1", 29500, "torchrun", Map.of("RANK", "1"),
				List.of("a \"quoted\" \\ word", "tab\tand\r\n\b\f\u0001 é"), List.of());
		assertThat(report.json()).isEqualTo(JsonMapper.shared().writeValueAsString(report));
	}

	@Test
	void textHasTheSameContentInOneWrite() {
		assertThat(env(Map.of("RANK", "1", "WORLD_SIZE", "2", "SLURM_NTASKS", "9", "PET_NODE_RANK", "0"))).isZero();
		assertThat(this.writes).singleElement()
			.asString()
			.contains("rank 1 of 2", "source: torchrun", "used: RANK=1", "note: SLURM_NTASKS=9",
					"conflict: PET_NODE_RANK=0", "127.0.0.1 port 29500");
	}

	@Test
	void anUnresolvableRankEndsWithBadConfiguration() {
		assertThat(env(Map.of("RANK", "2", "WORLD_SIZE", "2"), "--json")).isEqualTo(64);
		assertThat(this.writes).isEmpty();
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("RANK=2", "0..1");
	}

	@Test
	void aBadPropertyEndsWithBadConfiguration() {
		assertThat(execute(new EnvCommand(Map.of(), (arguments) -> Map.of("tutti.rank", "first")::get))).isEqualTo(64);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("tutti.rank=first");
	}

	@Test
	void anUnknownBackendIsNamedAsByARank() {
		assertThat(execute(new EnvCommand(), "--tutti.backend=foo")).isEqualTo(64);
		assertThat(this.writes).isEmpty();
		assertThat(this.err.toString(StandardCharsets.UTF_8))
			.isEqualTo("tutti env: tutti.backend=foo is not a backend. The backends are tcp, mpi, nccl\n");
	}

	@Test
	void aProfileThatSelectsNothingIsNamedAsByARank() {
		assertThat(execute(new EnvCommand(), "--spring.profiles.active=npi")).isZero();
		assertThat(this.writes).singleElement().asString().startsWith("rank 0 of 1");
		assertThat(this.err.toString(StandardCharsets.UTF_8)).isEqualTo("tutti env: profile npi selects no backend and"
				+ " has no configuration (application-npi.yml). Did you mean mpi?\n");
	}

	@Test
	void anUnknownOptionEndsWithBadConfiguration() {
		assertThat(env(Map.of(), "--yaml")).isEqualTo(64);
	}

	@Test
	void helpShowsExamples() {
		assertThat(env(Map.of(), "--help")).isZero();
		assertThat(String.join("", this.writes)).contains("--json", "./tutti env");
	}

	@Test
	void propertiesAreReadFromTheConfigurationOfARank() {
		System.setProperty("tutti.rank", "2");
		System.setProperty("tutti.world-size", "3");
		try {
			assertThat(execute(new EnvCommand(), "--json")).isZero();
			assertThat(this.writes).singleElement().asString().contains("\"source\":\"properties\"", "\"rank\":2");
		}
		finally {
			System.clearProperty("tutti.rank");
			System.clearProperty("tutti.world-size");
		}
	}

	@Test
	void propertiesOfTheCommandLineApplyAsForARank() {
		assertThat(execute(new EnvCommand(), "--json", "--tutti.rank=2", "--tutti.world-size=3")).isZero();
		assertThat(this.writes).singleElement().asString().contains("\"source\":\"properties\"", "\"rank\":2");
	}

	@Test
	void anUnknownPropertyIsNamedWithTheNearestOne() {
		assertThat(execute(new EnvCommand(), "--tutti.wordl-size=3")).isEqualTo(64);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("tutti.wordl-size",
				"Did you mean tutti.world-size?");
	}

	@Test
	void aMisspeltSystemPropertyIsNamed() {
		System.setProperty("tutti.worl-size", "3");
		try {
			assertThat(execute(new EnvCommand())).isEqualTo(64);
			assertThat(this.err.toString(StandardCharsets.UTF_8))
				.isEqualTo("tutti env: unknown property tutti.worl-size. Did you mean tutti.world-size?\n");
		}
		finally {
			System.clearProperty("tutti.worl-size");
		}
	}

	@Test
	void aSystemPropertyInAnotherSpellingAppliesAsForARank() {
		System.setProperty("tutti.worldSize", "3");
		System.setProperty("tutti.rank", "2");
		try {
			assertThat(execute(new EnvCommand(), "--json")).isZero();
			assertThat(this.writes).singleElement().asString().contains("\"source\":\"properties\"", "\"rank\":2");
		}
		finally {
			System.clearProperty("tutti.worldSize");
			System.clearProperty("tutti.rank");
		}
	}

	@Test
	void aFileThatCannotBeReadIsNamed(@TempDir Path folder) throws Exception {
		Path file = Files.writeString(folder.resolve("application.yml"), "tutti: [");
		assertThat(execute(new EnvCommand(), "--spring.config.location=" + file)).isEqualTo(64);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).startsWith("tutti env: ").contains("application.yml");
	}

	private static int env(Map<String, String> environment, String... arguments) {
		return execute(new EnvCommand(environment, (properties) -> (name) -> null), arguments);
	}

	private static int execute(EnvCommand command, String... arguments) {
		return new CommandLine(command).execute(arguments);
	}

}
