package io.tutti.chart;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;

import io.tutti.FreePort;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A real Prometheus, with its files in one folder.
 */
final class PrometheusServer implements AutoCloseable {

	static final Path PROMTOOL = Path.of("/usr/bin/promtool");

	private static final Path PROGRAM = Path.of("/usr/bin/prometheus");

	/**
	 * Set on machines where a missing Prometheus is a failure and not a reason to skip.
	 */
	private static final String REQUIRED = "TUTTI_PROMETHEUS_REQUIRED";

	private final HttpClient client = HttpClient.newHttpClient();

	private final Process process;

	private final int port;

	private PrometheusServer(Process process, int port) {
		this.process = process;
		this.port = port;
	}

	/** Skips or fails the calling test if Prometheus is not installed. */
	static void require() {
		boolean present = Files.isExecutable(PROGRAM) && Files.isExecutable(PROMTOOL);
		if (!present && Boolean.parseBoolean(System.getenv(REQUIRED))) {
			Assertions.fail(PROGRAM + " or " + PROMTOOL + " is missing, and " + REQUIRED + " is set");
		}
		Assumptions.assumeTrue(present, PROGRAM + " or " + PROMTOOL + " is missing: install prometheus");
	}

	/**
	 * Starts Prometheus.
	 * @param folder its folder, with the file {@code prometheus.yml}
	 */
	static PrometheusServer start(Path folder) throws IOException {
		int port = FreePort.next();
		return new PrometheusServer(new ProcessBuilder(PROGRAM.toString(), "--config.file=prometheus.yml",
				"--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:" + port)
			.directory(folder.toFile())
			.redirectErrorStream(true)
			.redirectOutput(folder.resolve("prometheus.log").toFile())
			.start(), port);
	}

	/** Whether it answers queries. */
	boolean isReady() {
		try {
			return get("/-/ready").statusCode() == 200;
		}
		catch (UncheckedIOException ex) {
			return false;
		}
	}

	/** The result of a query, as an array of series. */
	JsonNode query(String expression) {
		return result("/api/v1/query?query=" + encoded(expression));
	}

	/** The result of a query over the last minutes, as an array of series. */
	JsonNode queryRange(String expression, Duration past) {
		long end = System.currentTimeMillis() / 1000;
		return result("/api/v1/query_range?step=1&start=" + (end - past.toSeconds()) + "&end=" + end + "&query="
				+ encoded(expression));
	}

	/** Alerts that have fired, as {@code alert pod}. */
	Set<String> fired() {
		return query("count by (alertname, pod) (last_over_time(ALERTS{alertstate=\"firing\"}[10m]))").valueStream()
			.map((series) -> (series.at("/metric/alertname").asString() + " " + series.at("/metric/pod").asString(""))
				.strip())
			.collect(Collectors.toUnmodifiableSet());
	}

	private JsonNode result(String path) {
		JsonNode answer = JsonMapper.shared().readTree(get(path).body());
		if (!answer.path("status").asString().equals("success")) {
			throw new AssertionError(path + ": " + answer);
		}
		return answer.at("/data/result");
	}

	private HttpResponse<String> get(String path) {
		try {
			return this.client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path))
				.timeout(Duration.ofSeconds(10))
				.build(), HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static String encoded(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.client.close();
	}

}
