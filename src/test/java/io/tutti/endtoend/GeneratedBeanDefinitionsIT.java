package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import io.tutti.FreePort;
import io.tutti.service.TuttiApplication;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rank with the bean definitions of the build serves what a rank serves that evaluates
 * its configuration.
 */
@Order(3)
@Timeout(240)
class GeneratedBeanDefinitionsIT {

	private static final Duration LIMIT = Duration.ofSeconds(90);

	/** What the rank logs about its bean definitions. */
	private static final Map<String, String> TELLING = Map.of("TUTTI_VECTORS", "false",
			"LOGGING_LEVEL_IO_TUTTI_SERVICE_COMMAND", "debug");

	private static final List<String> PATHS = List.of("/v3/api-docs", "/actuator", "/actuator/health",
			"/actuator/health/liveness", "/actuator/health/readiness", "/actuator/info", "/actuator/rank",
			"/actuator/prometheus", "/actuator/metrics", "/actuator/beans", "/", "/no/such/path", "/error",
			"/favicon.ico", "/api/v1/group", "/api/v1/group/peers", "/api/v1/flight-recorder",
			"/api/v1/flight-recorder?format=foo", "/api/v1/barrier");

	private static final JsonMapper SORTED = JsonMapper.builder()
		.enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
		.build();

	private final HttpClient client = HttpClient.newHttpClient();

	@TempDir
	Path directory;

	@Test
	void aRankServesTheSameWithBothDefinitions() throws Exception {
		Map<String, String> generated = responses("bean definitions are those of the build", Map.of());
		// The default, but not what the build has seen.
		Map<String, String> evaluated = responses("bean definitions are evaluated",
				Map.of("SPRING_JMX_ENABLED", "false"));
		assertThat(generated).isEqualTo(evaluated);
		assertThat(generated.get("/actuator/prometheus")).contains("tutti_group_", "jvm_memory_used_bytes");
		assertThat(generated.get("POST")).startsWith("200");
		assertThat(generated.get("foreign POST")).startsWith("403");
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			SPRING_PROFILES_ACTIVE, tcp
			_TUTTI_METRICS_ENABLED, false
			SERVER_NAME, ${SERVER_NAME}
			TUTTI_JAVA_OPTS, -javaagent:agent.jar
			TUTTI_JAVA_OPTS, --module-path=agent.jar
			TUTTI_ENABLE_GPU_FALLBACK, 1
			""")
	void anotherConfigurationIsEvaluated(String variable, String value) throws Exception {
		writeAgent(this.directory.resolve("agent.jar"));
		Map<String, String> environment = new HashMap<>(TELLING);
		environment.put(variable, value);
		requireEvaluated(
				TuttiProcess.start(this.directory, environment, "bench", "--max-bytes", "8", "--iterations", "1"));
	}

	@Test
	void aFurtherJarOnTheClassPathIsConsidered() throws Exception {
		Path jar = this.directory.resolve("agent.jar");
		writeAgent(jar);
		List<String> command = new ArrayList<>(TuttiProcess.java());
		command.addAll(List.of("-cp", Path.of("target/app/tutti.jar").toAbsolutePath() + File.pathSeparator + jar,
				TuttiApplication.class.getName(), "bench", "--max-bytes", "8", "--iterations", "1"));
		requireEvaluated(TuttiProcess.run(this.directory, TELLING, command));
	}

	private static void requireEvaluated(TuttiProcess started) throws Exception {
		try (TuttiProcess rank = started) {
			assertThat(rank.exitCode(LIMIT)).as(rank.output()).isZero();
			assertThat(rank.output()).contains("bean definitions are evaluated");
		}
	}

	/** An agent that does nothing. */
	private static void writeAgent(Path jar) throws IOException {
		Manifest manifest = new Manifest();
		manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
		manifest.getMainAttributes().putValue("Premain-Class", Agent.class.getName());
		try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
				InputStream type = Agent.class.getResourceAsStream("GeneratedBeanDefinitionsIT$Agent.class")) {
			out.putNextEntry(new JarEntry(Agent.class.getName().replace('.', '/') + ".class"));
			type.transferTo(out);
		}
	}

	private Map<String, String> responses(String definitions, Map<String, String> properties) throws Exception {
		int port = FreePort.next();
		Map<String, String> environment = new HashMap<>(TELLING);
		environment.putAll(properties);
		try (TuttiProcess rank = TuttiProcess.start(this.directory, environment, "serve", "--http-port", "" + port)) {
			Awaitility.await()
				.atMost(LIMIT)
				.ignoreExceptions()
				.until(() -> send(request(port, "/actuator/health/readiness")).startsWith("200"));
			Map<String, String> responses = new TreeMap<>();
			for (String path : PATHS) {
				responses.put(path, send(request(port, path)));
			}
			HttpRequest.Builder barrier = request(port, "/api/v1/barrier").header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString("{\"label\":\"a\",\"timeoutMs\":9000}"));
			responses.put("POST", send(barrier));
			responses.put("foreign POST", send(barrier.header("Origin", "http://elsewhere.example")));
			assertThat(rank.output()).contains(definitions);
			return responses;
		}
	}

	private static HttpRequest.Builder request(int port, String path) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
	}

	/**
	 * Returns the code and the body without numbers, such as times and ports, and without
	 * the values of meters, some of which count the requests while the rank started.
	 */
	private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
		HttpResponse<String> response = this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
		String body = response.body().replaceAll("[0-9]+([.E-]+[0-9]+)*", "0");
		return response.statusCode() + switch (body.isEmpty() ? ' ' : body.charAt(0)) {
			case '{', '[' -> SORTED.writeValueAsString(SORTED.readValue(body, Object.class));
			case '#' -> body.replaceAll("(?m)^[^#].*\\R", "");
			default -> body;
		};
	}

	/** Started by the virtual machine. */
	public static final class Agent {

		private Agent() {
		}

		public static void premain(String arguments) {
		}

	}

}
