package io.tutti.chart;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import io.tutti.FreePort;
import io.tutti.OwnThread;
import io.tutti.endtoend.PausingTask;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The alerts and the dashboard, evaluated by Prometheus. Skipped where Prometheus is not
 * installed.
 */
@Order(5)
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class AlertsIT {

	private static final Duration LIMIT = Duration.ofSeconds(90);

	private static final String SHORT_TIMEOUTS = """
			podMonitor: {interval: 1s}
			timeouts: {rendezvousSeconds: 60, collectiveSeconds: 12, heartbeatSeconds: 5, abortSeconds: 2}""";

	private static final String START_TIME = "process_start_time_seconds";

	/** Pods of the group, of a training job, and the replaced pods of a Job. */
	private static final List<String> PODS = List.of("demo-tutti-0-aaaaa", "demo-tutti-1-aaaaa", "demo-tutti-2-aaaaa",
			"demo-tutti-3-aaaaa", "demo-tutti-3-bbbbb", "demo-tutti-3-ccccc", "demo-tutti-3-ddddd");

	@TempDir
	private Path folder;

	private Chart chart;

	@BeforeEach
	void copyTheChart() throws IOException {
		PrometheusServer.require();
		this.chart = Chart.in(Files.createDirectory(this.folder.resolve("chart")));
	}

	@Test
	void everyAlertFiresFromItsCauseAndOnlyThen() throws Exception {
		Map<String, JsonNode> rules = new LinkedHashMap<>();
		for (String elastic : List.of("{}", "{minRanks: 2}")) {
			this.chart.with("""
					worldSize: 12
					elastic: %s
					prometheusRule: {enabled: true}
					timeouts: {rendezvousSeconds: 240, collectiveSeconds: 600}""".formatted(elastic))
				.only("PrometheusRule")
				.at("/spec/groups/0/rules")
				.forEach((rule) -> rules.put(rule.path("alert").asString(), rule));
		}
		Files.writeString(this.folder.resolve("rules.yml"), JsonMapper.shared()
			.writeValueAsString(Map.of("groups", List.of(Map.of("name", "both kinds", "rules", rules.values())))));
		Files.copy(Path.of("src/test/resources/io/tutti/chart/alerts-test.yml"),
				this.folder.resolve("alerts-test.yml"));
		assertThat(promtool("check", "rules", "rules.yml")).contains("SUCCESS: 9 rules found");
		assertThat(promtool("test", "rules", "alerts-test.yml")).contains("SUCCESS");
		String tested = Files.readString(this.folder.resolve("alerts-test.yml"));
		assertThat(rules.keySet()).allSatisfy(
				(alert) -> assertThat(tested).containsPattern("alertname: " + alert + "\\n\\s+exp_alerts: \\[\\{"));
	}

	/**
	 * The expressions of the chart for short timeouts, with shorter delays before an
	 * alert fires.
	 */
	@Test
	void everyAlertFiresOnceARankCausesItAndEveryPanelShowsTheRanks() throws Exception {
		JsonNode rules = this.chart.with("worldSize: 3\nprometheusRule: {enabled: true}\n" + SHORT_TIMEOUTS)
			.only("PrometheusRule")
			.path("spec");
		Files.writeString(this.folder.resolve("rules.yml"),
				rules.toString().replaceAll("\"for\":\"[0-9]+[sm]\"", "\"for\":\"2s\""));
		Map<String, Integer> ports = new LinkedHashMap<>();
		PODS.forEach((pod) -> ports.put(pod, FreePort.next()));
		Files.writeString(this.folder.resolve("prometheus.yml"), configuration(ports));
		int master = FreePort.next();
		try (PrometheusServer prometheus = PrometheusServer.start(this.folder);
				OrderedRank first = rank(0, 2, master, ports.get("demo-tutti-0-aaaaa"));
				OrderedRank training = training(ports.get("demo-tutti-2-aaaaa"))) {
			await("Prometheus").until(prometheus::isReady);
			requireFired(prometheus, "TuttiNotFormed demo-tutti-0-aaaaa");
			CompletableFuture<Void> restarts;
			try (OrderedRank second = rank(1, 2, master, ports.get("demo-tutti-1-aaaaa"))) {
				requireScraped(prometheus, "rate(tutti_training_samples_total[5s]) > 0");
				// Not a number until the first epoch ends.
				requireScraped(prometheus, "tutti_training_loss >= 0");
				training.kill();
				restarts = CompletableFuture.runAsync(() -> replaceAPodThreeTimes(prometheus, ports),
						OwnThread.EXECUTOR);
				first.order("world 20 0");
				second.order("world 20 300");
				requireFired(prometheus, "TuttiStraggler demo-tutti-1-aaaaa");
				first.order("part 1000 0");
				second.order("part 2000 0");
				requireFired(prometheus, "TuttiCollectiveMismatch demo-tutti-0-aaaaa",
						"TuttiCollectiveMismatch demo-tutti-1-aaaaa");
				first.order("part 1000 0");
				second.order("part 1000 60000");
				requireFired(prometheus, "TuttiStuck demo-tutti-0-aaaaa");
				assertThat(prometheus.fired()).noneMatch((alert) -> alert.startsWith("TuttiCollectiveTimeout"));
				requireFired(prometheus, "TuttiCollectiveTimeout demo-tutti-0-aaaaa",
						"TuttiCollectiveTimeout demo-tutti-1-aaaaa");
			}
			requireFired(prometheus, "TuttiPeerLost demo-tutti-0-aaaaa");
			restarts.join();
			requireFired(prometheus, "TuttiRestartLoop");
			// On a busy machine rank 0 may really arrive late at the first calls, and the
			// other ranks take long to form their group.
			assertThat(prometheus.fired())
				.filteredOn((alert) -> !alert
					.matches("TuttiStraggler demo-tutti-0-aaaaa|TuttiNotFormed demo-tutti-[1-9]-aaaaa"))
				.hasSize(9);
			for (String query : queriesOfTheDashboard()) {
				assertThat(prometheus.queryRange(query, LIMIT).findValues("values")).as(query)
					.anyMatch((values) -> values.valueStream()
						.anyMatch((value) -> !value.path(1).asString().equals("NaN")));
			}
		}
	}

	/** The lost rank is not scraped: its restarts are not those of a pod. */
	@Test
	void anElasticGroupThatFormsAgainAndAgainFiresItsAlertAndShowsInItsPanels() throws Exception {
		JsonNode rules = this.chart
			.with("worldSize: 2\nelastic: {minRanks: 1}\nprometheusRule: {enabled: true}\n" + SHORT_TIMEOUTS)
			.only("PrometheusRule")
			.path("spec");
		Files.writeString(this.folder.resolve("rules.yml"), rules.toString());
		int port = FreePort.next();
		Files.writeString(this.folder.resolve("prometheus.yml"), configuration(Map.of("demo-tutti-0-aaaaa", port)));
		Map<String, String> elastic = Map.of("TUTTI_ELASTIC_MIN_RANKS", "1", "TUTTI_ELASTIC_ENDPOINTS",
				"127.0.0.1:" + FreePort.next() + ",127.0.0.1:" + FreePort.next());
		int master = FreePort.next();
		try (PrometheusServer prometheus = PrometheusServer.start(this.folder);
				OrderedRank _ = elasticRank(0, master, port, elastic)) {
			await("Prometheus").until(prometheus::isReady);
			for (int loss = 1; loss <= 4; loss++) {
				try (OrderedRank second = elasticRank(1, master, FreePort.next(), elastic)) {
					requireScraped(prometheus, "tutti_peers{state=\"up\"} == 1");
					assertThat(prometheus.fired()).doesNotContain("TuttiReformLoop");
					second.kill();
					requireScraped(prometheus, "tutti_group_reforms_total == " + (2 * loss - 1));
				}
			}
			requireFired(prometheus, "TuttiReformLoop");
			for (String query : queriesOfTheDashboard().stream().filter((query) -> query.contains("reform")).toList()) {
				await(query).until(() -> prometheus.query(query).size() == 1);
				requireScraped(prometheus, query + " > 0");
			}
		}
	}

	private OrderedRank training(int port) throws IOException {
		PausingTask.write(this.folder);
		Map<String, String> variables = variables(0, 1, FreePort.next(), port);
		variables.put("TUTTI_VECTORS", "false");
		return OrderedRank.startTutti(this.folder.resolve("training.log"), variables, PausingTask.command("."));
	}

	private OrderedRank elasticRank(int rank, int master, int port, Map<String, String> elastic) {
		Map<String, String> variables = variables(rank, 2, master, port);
		variables.putAll(elastic);
		return OrderedRank.startTutti(this.folder.resolve("elastic-" + rank + ".log"), variables, "serve",
				"--http-port", "" + port);
	}

	/** Replacements whose metrics are only the start time, from which the alert is. */
	private void replaceAPodThreeTimes(PrometheusServer prometheus, Map<String, Integer> ports) {
		requireScraped(prometheus, START_TIME + "{pod=\"demo-tutti-0-aaaaa\"}");
		for (String pod : PODS.subList(3, PODS.size())) {
			assertThat(prometheus.fired()).doesNotContain("TuttiRestartLoop");
			HttpServer replacement = serving(ports.get(pod));
			try {
				requireScraped(prometheus, START_TIME + "{pod=\"" + pod + "\"}");
			}
			finally {
				replacement.stop(0);
			}
		}
	}

	private OrderedRank rank(int rank, int worldSize, int master, int port) {
		return OrderedRank.start(this.folder.resolve("rank-" + port + ".log"),
				variables(rank, worldSize, master, port));
	}

	private static HttpServer serving(int port) {
		byte[] metrics = (START_TIME + " " + System.currentTimeMillis() / 1000.0 + "\n")
			.getBytes(StandardCharsets.US_ASCII);
		try {
			HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
			server.createContext("/actuator/prometheus", (exchange) -> {
				exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
				exchange.sendResponseHeaders(200, metrics.length);
				exchange.getResponseBody().write(metrics);
				exchange.close();
			});
			server.start();
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Map<String, String> variables(int rank, int worldSize, int master, int port) {
		Map<String, String> variables = new HashMap<>(Map.of("RANK", "" + rank, "WORLD_SIZE", "" + worldSize,
				"LOCAL_RANK", "" + rank, "LOCAL_WORLD_SIZE", "" + worldSize, "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
				"" + master, "TUTTI_TIMEOUT_RENDEZVOUS", "60s", "TUTTI_TIMEOUT_COLLECTIVE", "12s",
				"TUTTI_TIMEOUT_HEARTBEAT", "5s", "TUTTI_TIMEOUT_ABORT", "2s"));
		variables.put("SERVER_PORT", "" + port);
		variables.put("MANAGEMENT_ENDPOINTS_WEB_EXPOSURE_INCLUDE", "prometheus");
		return variables;
	}

	/** Labels as a PodMonitor of the chart gives them. */
	private static String configuration(Map<String, Integer> ports) {
		StringBuilder text = new StringBuilder("""
				global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}
				rule_files: [rules.yml]
				scrape_configs:
				  - job_name: ml/demo-tutti
				    metrics_path: /actuator/prometheus
				    static_configs:
				""");
		ports.forEach((pod, port) -> text.append("      - {targets: ['127.0.0.1:")
			.append(port)
			.append("'], labels: {namespace: ml, pod: ")
			.append(pod)
			.append(", container: tutti, endpoint: http}}\n"));
		return text.toString();
	}

	private void requireFired(PrometheusServer prometheus, String... alerts) {
		await(String.join(", ", alerts)).untilAsserted(() -> assertThat(prometheus.fired()).contains(alerts));
	}

	private void requireScraped(PrometheusServer prometheus, String query) {
		await(query).until(() -> !prometheus.query(query).isEmpty());
	}

	private static ConditionFactory await(String subject) {
		return Awaitility.await(subject).atMost(LIMIT).pollInterval(Duration.ofMillis(200));
	}

	/** The queries with their variables replaced. */
	private static List<String> queriesOfTheDashboard() throws IOException {
		return JsonMapper.shared()
			.readTree(Files.readString(Chart.FOLDER.resolve("dashboards").resolve("tutti.json")))
			.path("panels")
			.findValuesAsString("expr")
			.stream()
			.map((query) -> query.replace("$namespace", "ml")
				.replace("$job", "ml/demo-tutti")
				.replace("$pod", ".*")
				.replace("$__rate_interval", "1m"))
			.toList();
	}

	@Test
	void everyQueryOfTheDashboardIsValid() throws Exception {
		List<String> queries = queriesOfTheDashboard();
		StringBuilder rules = new StringBuilder("groups:\n- name: dashboard\n  rules:\n");
		for (int index = 0; index < queries.size(); index++) {
			assertThat(queries.get(index)).doesNotContain("$");
			rules.append("  - record: query_")
				.append(index)
				.append("\n    expr: '")
				.append(queries.get(index))
				.append("'\n");
		}
		Files.writeString(this.folder.resolve("rules.yml"), rules);
		assertThat(promtool("check", "rules", "rules.yml")).contains("SUCCESS: " + queries.size() + " rules found");
	}

	private String promtool(String... words) throws IOException, InterruptedException {
		Path output = this.folder.resolve("output");
		Process process = new ProcessBuilder(
				Stream.concat(Stream.of(PrometheusServer.PROMTOOL.toString()), List.of(words).stream()).toList())
			.directory(this.folder.toFile())
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		int code = process.waitFor();
		String text = Files.readString(output);
		assertThat(code).as(text).isZero();
		return text;
	}

}
