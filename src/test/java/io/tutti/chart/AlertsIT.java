package io.tutti.chart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
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
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AlertsIT {

	private static final Path PROMTOOL = Path.of("/usr/bin/promtool");

	@TempDir
	private Path folder;

	private Chart chart;

	@BeforeEach
	void copyTheChart() throws IOException {
		Assumptions.assumeTrue(Files.isExecutable(PROMTOOL), PROMTOOL + " is missing: install prometheus");
		this.chart = Chart.in(Files.createDirectory(this.folder.resolve("chart")));
	}

	@Test
	void everyAlertFiresFromItsCauseAndOnlyThen() throws Exception {
		Rendered rendered = this.chart.with("""
				worldSize: 12
				prometheusRule: {enabled: true}
				timeouts: {rendezvousSeconds: 240, collectiveSeconds: 600}""");
		JsonNode groups = rendered.only("PrometheusRule").path("spec");
		Files.writeString(this.folder.resolve("rules.yml"), groups.toString());
		Files.copy(Path.of("src/test/resources/io/tutti/chart/alerts-test.yml"),
				this.folder.resolve("alerts-test.yml"));
		assertThat(promtool("check", "rules", "rules.yml")).contains("SUCCESS: 7 rules found");
		assertThat(promtool("test", "rules", "alerts-test.yml")).contains("SUCCESS");
		String tested = Files.readString(this.folder.resolve("alerts-test.yml"));
		assertThat(groups.at("/groups/0/rules").findValuesAsString("alert")).allSatisfy(
				(alert) -> assertThat(tested).containsPattern("alertname: " + alert + "\\n\\s+exp_alerts: \\[\\{"));
	}

	/** A rule with each query of the dashboard, its variables replaced. */
	@Test
	void everyQueryOfTheDashboardIsValid() throws Exception {
		JsonNode dashboard = JsonMapper.shared()
			.readTree(Files.readString(Chart.FOLDER.resolve("dashboards").resolve("tutti.json")));
		List<String> queries = dashboard.path("panels").findValuesAsString("expr");
		StringBuilder rules = new StringBuilder("groups:\n- name: dashboard\n  rules:\n");
		for (int index = 0; index < queries.size(); index++) {
			String query = queries.get(index).replace("$namespace", "ml").replace("$pod", ".*");
			assertThat(query).doesNotContain("$");
			rules.append("  - record: query_").append(index).append("\n    expr: '").append(query).append("'\n");
		}
		Files.writeString(this.folder.resolve("rules.yml"), rules);
		assertThat(promtool("check", "rules", "rules.yml")).contains("SUCCESS: " + queries.size() + " rules found");
	}

	private String promtool(String... words) throws IOException, InterruptedException {
		Path output = this.folder.resolve("output");
		Process process = new ProcessBuilder(
				Stream.concat(Stream.of(PROMTOOL.toString()), List.of(words).stream()).toList())
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
