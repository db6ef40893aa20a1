package io.tutti.chart;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The objects beside the ranks: token, certificates, network policy and monitoring.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SurroundingsTest {

	/**
	 * The meters of the design and the process's start time in Prometheus spelling,
	 * without the suffixes of their type.
	 */
	private static final Set<String> METERS = Set.of("collective_duration", "collective_bytes", "collective_inflight",
			"collective_timeouts", "collective_mismatches", "collective_aborts", "collective_last_sequence",
			"collective_algorithm_bandwidth", "collective_bus_bandwidth", "rank_arrival_skew", "peers", "peer_rtt_max",
			"peer_rtt_median", "peer_silence_max", "rendezvous_duration", "group_generation", "group_state",
			"training_samples", "training_step_duration", "training_exposed_communication", "training_data_wait",
			"training_loss", "training_progress_ratio", "training_steps_repeated", "group_reforms",
			"group_reform_duration", "start_time");

	private static final Pattern METER = Pattern.compile("(?:tutti|process)_([a-z_]+)");

	private static final Pattern POD = Pattern.compile("pod=~\"([^\"]+)\"");

	private static final Pattern SECONDS = Pattern.compile("\\b([0-9]+)s\\b");

	private static final Pattern KIND = Pattern
		.compile("(_seconds|_bytes_per_second)?(_total|_count|_sum|_max|_bucket)?$");

	@TempDir
	private static Path folder;

	private static Chart chart;

	@BeforeAll
	static void copyTheChart() {
		chart = Chart.in(folder);
	}

	static List<Path> scenarios() {
		return Chart.scenarios();
	}

	@Test
	void aTokenIsGeneratedIfNoneIsGiven() {
		JsonNode secret = chart.scenario("default").only("Secret");
		assertThat(decoded(secret.at("/data/token"))).matches("[a-zA-Z0-9]{48}");
		assertThat(chart.with("{}").only("Secret").at("/data/token")).as("another rendering")
			.isNotEqualTo(secret.at("/data/token"));
	}

	@Test
	void aGivenTokenIsUsed() {
		assertThat(decoded(chart.scenario("serve-bare").only("Secret").at("/data/token"))).isEqualTo("of-my-own");
		assertThat(chart.scenario("train").all("Secret")).isEmpty();
	}

	/** Pods that replace those of a running Job would not match the others. */
	@ParameterizedTest
	@CsvSource({ "Job, true", "JobSet, true", "StatefulSet, false" })
	void tokenAndConfigurationOfARunningJobCannotChange(String kind, boolean immutable) {
		Rendered rendered = chart.with("{workload: {kind: " + kind + "}, config: {debug: true}}");
		for (String object : List.of("Secret", "ConfigMap")) {
			assertThat(rendered.only(object).path("immutable").asBoolean(false)).isEqualTo(immutable);
		}
	}

	@Test
	void theRequestedCertificateIsTheOneThatRanksMount() {
		Rendered tls = chart.scenario("tls");
		JsonNode certificate = tls.only("Certificate").path("spec");
		assertThat(certificate.path("dnsNames").toString()).isEqualTo("[\"demo-tutti.ml.svc\"]");
		assertThat(tls.environment()).containsEntry("TUTTI_TLS_PEERNAME", "demo-tutti.ml.svc")
			.containsEntry("TUTTI_TLS_BUNDLE", "ranks")
			.containsEntry("SPRING_SSL_BUNDLE_PEM_RANKS_KEYSTORE_VERIFYKEYS", "true");
		assertThat(certificate.path("usages").toString()).contains("server auth", "client auth");
		assertThat(certificate.path("issuerRef").toString())
			.isEqualTo("{\"group\":\"cert-manager.io\",\"kind\":\"ClusterIssuer\",\"name\":\"ranks\"}");
		assertThat(certificate.path("secretName").asString()).isEqualTo("demo-tutti-tls");
		JsonNode secret = tls.pod()
			.path("volumes")
			.valueStream()
			.filter((volume) -> volume.path("name").asString().equals("tls"))
			.findFirst()
			.orElseThrow()
			.path("secret");
		assertThat(secret.path("secretName").asString()).isEqualTo("demo-tutti-tls");
		assertThat(secret.path("items")
			.valueStream()
			.map((item) -> "file:/run/secrets/tls/" + item.path("path").asString()))
			.containsExactlyInAnyOrderElementsOf(tls.environment()
				.entrySet()
				.stream()
				.filter((variable) -> variable.getKey().startsWith("SPRING_SSL_BUNDLE_PEM_RANKS_")
						&& variable.getValue().startsWith("file:"))
				.map(Map.Entry::getValue)
				.toList());
	}

	@Test
	void httpClientsAreConfiguredForHttpsWithItsAuthority() {
		Rendered tls = chart.scenario("tls");
		assertThat(tls.environment()).containsEntry("SERVER_SSL_BUNDLE", tls.environment().get("TUTTI_TLS_BUNDLE"));
		for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
			assertThat(tls.rank().at("/" + probe + "/httpGet/scheme").asString()).isEqualTo("HTTPS");
			assertThat(chart.scenario("serve").rank().at("/" + probe + "/httpGet/scheme").asString()).isEqualTo("HTTP");
		}
		JsonNode endpoint = tls.only("PodMonitor").at("/spec/podMetricsEndpoints/0");
		assertThat(endpoint.path("scheme").asString()).isEqualTo("https");
		assertThat(endpoint.path("tlsConfig").toString()).isEqualTo(
				"{\"ca\":{\"secret\":{\"name\":\"demo-tutti-tls\",\"key\":\"ca.crt\"}},\"serverName\":\"demo-tutti.ml.svc\"}");
		assertThat(chart.with("{tls: {enabled: true, secretName: mine}}").environment())
			.doesNotContainKey("SERVER_SSL_BUNDLE");
	}

	@Test
	void withoutTlsNoTlsSettingsAreRendered() {
		Rendered plain = chart.scenario("serve");
		assertThat(plain.all("Certificate")).isEmpty();
		assertThat(plain.environment().keySet()).noneMatch((name) -> name.contains("TLS") || name.contains("SSL"));
		assertThat(chart.with("{tls: {enabled: true, secretName: mine}}").all("Certificate")).isEmpty();
	}

	@Test
	void onlyRanksReachTheRendezvousAndDataPorts() {
		JsonNode policy = chart.scenario("volcano").only("NetworkPolicy").path("spec");
		assertThat(policy.path("policyTypes").toString()).isEqualTo("[\"Ingress\",\"Egress\"]");
		JsonNode ranks = policy.at("/ingress/0");
		assertThat(ranks.path("from")).hasSize(1);
		assertThat(ranks.at("/from/0/podSelector/matchLabels/app.kubernetes.io~1component").asString())
			.isEqualTo("rank");
		assertThat(ports(ranks)).containsExactly(29500, 29501);
		assertThat(ports(policy.at("/egress/0"))).containsExactly(29500, 29501);
		assertThat(ports(policy.at("/egress/1"))).containsExactly(53, 53, 5353, 5353);
		assertThat(policy.at("/egress/2/to/0/ipBlock/cidr").asString()).isEqualTo("10.0.0.0/8");
		assertThat(policy.path("ingress")).hasSize(2);
	}

	@Test
	void ranksOnNcclReachEachOtherAtEphemeralPorts() {
		JsonNode policy = chart.scenario("nccl").only("NetworkPolicy").path("spec");
		for (JsonNode rule : List.of(policy.at("/ingress/0"), policy.at("/egress/0"))) {
			assertThat(rule.has("ports")).isFalse();
			assertThat(rule.toString()).contains("podSelector", "\"app.kubernetes.io/component\":\"rank\"");
		}
		assertThat(ports(policy.at("/ingress/1"))).containsExactly(8080);
	}

	/**
	 * While a stopped rank holds the rendezvous port, another rank of its pod takes a
	 * free one.
	 */
	@Test
	void ranksOfAnElasticPodOfSeveralReachEachOtherAtEphemeralPorts() {
		JsonNode policy = chart.scenario("elastic-jobset").only("NetworkPolicy").path("spec");
		for (JsonNode rule : List.of(policy.at("/ingress/0"), policy.at("/egress/0"))) {
			assertThat(rule.has("ports")).isFalse();
			assertThat(rule.toString()).contains("podSelector", "\"app.kubernetes.io/component\":\"rank\"");
		}
		assertThat(ports(chart.scenario("elastic").only("NetworkPolicy").at("/spec/ingress/0"))).containsExactly(29500,
				29501, 29700);
	}

	@Test
	void httpIsOpenToThePeersInTheValues() {
		JsonNode http = chart.scenario("serve").only("NetworkPolicy").at("/spec/ingress/1");
		assertThat(ports(http)).containsExactly(8080);
		assertThat(http.path("from")).hasSize(2);
		assertThat(http.at("/from/1/namespaceSelector/matchLabels").toString()).contains("monitoring");
		assertThat(chart.scenario("serve-bare").all("NetworkPolicy")).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void thePolicyNamesThePortsOfTheRanks(Path values) {
		Rendered rendered = chart.render(values);
		Map<String, String> environment = rendered.environment();
		boolean elastic = environment.containsKey("TUTTI_ELASTIC_ENDPOINTS");
		boolean every = "nccl".equals(environment.get("SPRING_PROFILES_ACTIVE"))
				|| elastic && rendered.ranksPerPod() > 1;
		List<Integer> between = new ArrayList<>(List.of(Integer.parseInt(environment.get("MASTER_PORT"))));
		between.addAll(consecutive(environment.get("TUTTI_TRANSPORT_PORT"), rendered));
		if (elastic) {
			between.addAll(consecutive("29700", rendered));
		}
		for (JsonNode policy : rendered.all("NetworkPolicy")) {
			assertThat(ports(policy.at("/spec/ingress/0"))).containsExactlyElementsOf(every ? List.of() : between);
			assertThat(ports(policy.at("/spec/ingress/1")))
				.containsExactlyElementsOf(consecutive(environment.get("TUTTI_HTTP_PORT"), rendered));
		}
	}

	private static List<Integer> consecutive(String first, Rendered rendered) {
		return IntStream.range(0, rendered.ranksPerPod())
			.map((local) -> Integer.parseInt(first) + local)
			.boxed()
			.toList();
	}

	@Test
	void prometheusScrapesTheMeterEndpoint() {
		JsonNode monitor = chart.scenario("serve").only("PodMonitor");
		assertThat(monitor.at("/spec/podMetricsEndpoints/0/path").asString()).isEqualTo("/actuator/prometheus");
		assertThat(monitor.at("/spec/podMetricsEndpoints/0/port").asString()).isEqualTo("http");
		assertThat(monitor.at("/metadata/labels/release").asString()).isEqualTo("prometheus");
	}

	@Test
	void monitoringIsOffByDefault() {
		Rendered rendered = chart.scenario("default");
		assertThat(rendered.all("PodMonitor")).isEmpty();
		assertThat(rendered.all("PrometheusRule")).isEmpty();
		assertThat(rendered.all("ConfigMap")).isEmpty();
	}

	@Test
	void alertsUseOnlyExistingMeters() {
		assertThat(chart.scenario("serve").only("PrometheusRule").at("/spec/groups/0/rules")).hasSize(7);
		JsonNode rules = chart.with("worldSize: 4\nelastic: {minRanks: 2}\nprometheusRule: {enabled: true}")
			.only("PrometheusRule")
			.at("/spec/groups/0/rules");
		assertThat(rules).hasSize(8);
		assertThat(rules.findValuesAsString("alert")).contains("TuttiRanksMissing").doesNotContain("TuttiPeerLost");
		for (JsonNode rule : rules) {
			assertThat(meters(rule.path("expr").asString())).isNotEmpty().isSubsetOf(METERS);
			assertThat(rule.path("expr").asString()).contains("namespace=\"ml\"",
					"pod=~\"demo-tutti-([0-9]+)-[a-z0-9]{5}\"");
			assertThat(rule.at("/annotations/summary").asString()).containsAnyOf("{{ $labels.pod }}",
					"a rank of demo-tutti", "the group of demo-tutti");
		}
	}

	/** Release {@code demo-tutti-2} has pods {@code demo-tutti-2-0} and so on. */
	@ParameterizedTest
	@CsvSource({ "StatefulSet, demo-tutti-2, demo-tutti-2-0", "Job, demo-tutti-2-x7k2p, demo-tutti-2-0-x7k2p",
			"JobSet, demo-tutti-ranks-0-2-x7k2p, demo-tutti-ranks-0-ranks-0-2-x7k2p" })
	void alertsSelectThePodsOfTheReleaseOnly(String kind, String own, String other) {
		for (JsonNode rule : chart.with("{workload: {kind: " + kind + "}, prometheusRule: {enabled: true}}")
			.only("PrometheusRule")
			.at("/spec/groups/0/rules")) {
			Matcher pods = POD.matcher(rule.path("expr").asString());
			assertThat(pods.find()).isTrue();
			assertThat(own).matches(pods.group(1));
			assertThat(other).doesNotMatch(pods.group(1));
		}
	}

	@ParameterizedTest
	@CsvSource({ "300, 600", "20, 100" })
	void anAlertFiresBeforeTheDeadlineThatEndsTheRank(int rendezvousSeconds, int collectiveSeconds) {
		JsonNode rules = chart
			.with("""
					{prometheusRule: {enabled: true},
					 timeouts: {rendezvousSeconds: %d, collectiveSeconds: %d}}""".formatted(rendezvousSeconds,
					collectiveSeconds))
			.only("PrometheusRule")
			.at("/spec/groups/0/rules");
		assertThat(secondsUntil("TuttiPeerLost", rules)).isZero();
		assertThat(secondsUntil("TuttiNotFormed", rules)).isPositive().isLessThan(rendezvousSeconds);
		assertThat(secondsUntil("TuttiStuck", rules)).isPositive().isLessThan(collectiveSeconds);
	}

	@ParameterizedTest
	@CsvSource({ "600, 15s, 150s", "60, 15s, 60s", "600, 3m, 720s", "3, 500ms, 2s" })
	void theWindowOfAStuckCallHoldsSeveralScrapes(int collectiveSeconds, String interval, String window) {
		JsonNode rules = chart
			.with("""
					{prometheusRule: {enabled: true}, podMonitor: {interval: %s}, timeouts: {collectiveSeconds: %d}}"""
				.formatted(interval, collectiveSeconds))
			.only("PrometheusRule")
			.at("/spec/groups/0/rules");
		assertThat(rules.toString()).contains("[" + window + "])) > 0");
	}

	@Test
	void theDashboardUsesOnlyExistingMeters() {
		JsonNode map = chart.scenario("serve").only("ConfigMap");
		assertThat(map.at("/metadata/labels/grafana_dashboard").asString()).isEqualTo("1");
		JsonNode dashboard = JsonMapper.shared().readTree(map.at("/data/tutti.json").asString());
		assertThat(dashboard.path("panels")).hasSize(22);
		for (String expression : dashboard.path("panels").findValuesAsString("expr")) {
			assertThat(meters(expression)).isNotEmpty().isSubsetOf(METERS);
		}
	}

	@Test
	void everyPanelShowsTheRanksOfOneJob() {
		JsonNode dashboard = JsonMapper.shared()
			.readTree(chart.scenario("serve").only("ConfigMap").at("/data/tutti.json").asString());
		assertThat(dashboard.at("/templating/list").findValuesAsString("name")).containsExactly("datasource",
				"namespace", "job", "pod");
		for (String expression : dashboard.path("panels").findValuesAsString("expr")) {
			assertThat(expression.replace("{namespace=\"$namespace\",job=\"$job\",pod=~\"$pod\"", ""))
				.doesNotContain("{");
		}
	}

	@Test
	void everySeriesOfARankIsNamedAlsoInAPodOfSeveral() {
		JsonNode dashboard = JsonMapper.shared()
			.readTree(chart.scenario("serve").only("ConfigMap").at("/data/tutti.json").asString());
		assertThat(dashboard.findValuesAsString("legendFormat")).isNotEmpty()
			.allMatch((legend) -> legend.contains("{{pod}}") == legend.contains("{{pod}} {{endpoint}}"));
		assertThat(dashboard.path("panels").findValuesAsString("expr")).noneMatch((expr) -> expr.contains("(pod)"));
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void theNotesNameTheRenderedObjects(Path values) {
		Rendered rendered = chart.render(values);
		String notes = chart.notes(values);
		String kind = rendered.workload().path("kind").asString();
		assertThat(notes).contains(rendered.worldSize() + " rank(s)", kind,
				"get pods -l app.kubernetes.io/instance=demo,app.kubernetes.io/component=rank");
		assertThat(notes.contains("helm -n ml test demo")).isNotEqualTo(rendered.all("Pod").isEmpty());
		if (!kind.equals("StatefulSet")) {
			assertThat(notes).contains(kind.toLowerCase() + "/" + rendered.workload().at("/metadata/name").asString());
		}
		String workload = rendered.workload().toString();
		assertThat(notes.contains("\"suspend\":true"))
			.isEqualTo(workload.contains("--checkpoint=") && !workload.contains("TUTTI_STOP_SIGNAL")
					&& workload.contains("{\"action\":\"Ignore\",\"onExitCodes\":{\"containerName\":\"tutti\","
							+ "\"operator\":\"In\",\"values\":[79]}}"));
		for (JsonNode secret : rendered.all("Secret")) {
			assertThat(notes).contains("Secret " + secret.at("/metadata/name").asString());
		}
	}

	/** The query window plus the waiting time of an alert. */
	private static int secondsUntil(String alert, JsonNode rules) {
		JsonNode rule = rules.valueStream()
			.filter((each) -> each.path("alert").asString().equals(alert))
			.findFirst()
			.orElseThrow();
		Matcher seconds = SECONDS.matcher(rule.path("expr").asString() + " " + rule.path("for").asString());
		return seconds.results().mapToInt((result) -> Integer.parseInt(result.group(1))).sum();
	}

	private static String decoded(JsonNode text) {
		return new String(Base64.getDecoder().decode(text.asString()));
	}

	private static List<Integer> ports(JsonNode rule) {
		return rule.path("ports").valueStream().map((port) -> port.path("port").asInt()).toList();
	}

	private static Set<String> meters(String expression) {
		Set<String> meters = new TreeSet<>();
		Matcher matcher = METER.matcher(expression);
		while (matcher.find()) {
			meters.add(KIND.matcher(matcher.group(1)).replaceFirst(""));
		}
		return meters;
	}

}
